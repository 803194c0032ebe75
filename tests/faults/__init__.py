"""Rounds of faults: owners and senders killed, stopped and cut off, and what the store says after.

`python -m tests.faults SEED` plays one round again.
"""
