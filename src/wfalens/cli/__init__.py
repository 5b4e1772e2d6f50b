"""The command line: for each command one file, with its parser `NAME_cli` and the plain function `NAME` that works."""
