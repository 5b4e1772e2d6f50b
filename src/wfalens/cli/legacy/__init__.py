"""Commands that are not rewritten yet."""
