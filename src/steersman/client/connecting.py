"""What both clients agree on: how a server is reached, and when it is asked again. Pure."""

from typing import Any
from urllib.parse import SplitResult, urlsplit

from steersman.records.addresses import is_here as is_here
from steersman.records.errors import SteersmanError, UsageProblem
from steersman.records.thread_facts import ThreadFacts

PATIENCE = 60.0  # seconds for which a server that does not answer is tried again
LARGEST = 256 << 20  # bytes of one answer
TIMEOUT = 120.0  # seconds for one answer


def options(url: str, token: str) -> dict[str, Any]:
    """How to connect; what is on this machine is never reached through a proxy."""
    parts = address(url)
    return {
        "base_url": url,
        "headers": {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        "timeout": TIMEOUT,
        "trust_env": not is_here(parts.hostname or ""),
    }


def address(url: str) -> SplitResult:
    """The parts of a server's address."""
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")  # as it is looked up
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise UsageProblem(
            f"“{url}” is not the address of a server.", try_this="Use the one `steer serve` shows."
        )
    return parts


def ready(facts: ThreadFacts) -> bool:
    """Whether a thread has nothing to do, or waits for an answer."""
    return facts.state in ("idle", "waiting")


def lost(error: Exception) -> SteersmanError:
    """The connection broke, and what was asked must not be asked twice."""
    return SteersmanError(
        "The connection to the server broke before it answered.",
        str(error),
        "Look at the thread: it may have been done.",
    )


class Whole:
    """An answer, part by part, as long as it is not longer than any of ours."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        """The next part."""
        self._size += len(part)
        if self._size > LARGEST:
            raise endless()
        self._parts.append(part)

    def data(self) -> bytes:
        """All of it."""
        return b"".join(self._parts)


def endless() -> SteersmanError:
    """The server sends more than any of ours would."""
    return SteersmanError(
        "The server's answer is too long.", "It may be another program, or not end at all."
    )
