"""Waiting for what another thread or process does.

The limit only ends a test that would wait for ever; how fast the machine is does not matter below it.
"""

import time

PATIENCE = 120.0  # seconds; a busy machine takes long to start a cluster


def wait_until(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "what was waited for did not happen"
        time.sleep(0.01)
