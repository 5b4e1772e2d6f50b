"""Waiting for what another thread or process does: as long as it takes, because a busy machine takes long.

A test that hangs is ended, with the stacks of its threads, by `faulthandler_timeout` in pyproject.toml.
"""

import time


def wait_until(holds):
    while not holds():
        time.sleep(0.01)
