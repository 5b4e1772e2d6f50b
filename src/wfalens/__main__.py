"""`python -m wfalens`."""

from wfalens.cli.main import run

run()
