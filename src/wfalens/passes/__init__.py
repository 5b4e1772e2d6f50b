"""Passes over a corpus of any size: where they run, what they keep, how they go on after a stop."""
