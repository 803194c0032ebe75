"""How a command ended, in words. Pure."""

import signal

from steersman.records.message import JobEnd

_SHELL = 128  # and the signal's number: how a shell says that a signal ended a command


def exit_words(code: int | None) -> str:
    """`exit 1`, `ended by SIGTERM (exit 143)`, or that it is still running."""
    if code is None:
        return "still running"
    name = signal_name(code - _SHELL) if code > _SHELL else ""
    return f"ended by {name} (exit {code})" if name else f"exit {code}"


def end_words(job: JobEnd) -> str:
    """How a command in the background ended."""
    if job.copied:
        return "stayed with the thread that this one is a copy of"
    if job.lost:
        return "ended when Steersman stopped unexpectedly"
    if job.left:
        return "was ended when the thread was closed"
    how = exit_words(job.exit_code)
    return how if how.startswith("ended") else f"ended: {how}"


def signal_name(number: int) -> str:
    """A signal's name; empty for a number that is none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""
