"""What can be offered to a client: tools, and calls of them that may ask something before they end.

The words in which `serving.py` and whoever has the tools speak to each other. Nothing here knows
the protocol's library, or whose tools they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

Method = Literal["elicitation/create", "sampling/createMessage", "roots/list"]
Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class OfferedTool(Struct, frozen=True):
    """A tool as a client sees it; `hints` are the protocol's annotations."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    hints: Mapping[str, Any] = {}
    title: str = ""
    output: Mapping[str, Any] | None = None


class Asked(Struct, frozen=True):
    """The call needs something of the client; `key` names the request within the call."""

    key: str
    method: Method
    params: Mapping[str, Any]


class Shown(Struct, frozen=True):
    """How far the call is, in words or in numbers."""

    text: str = ""
    done: float | None = None
    total: float | None = None


class Said(Struct, frozen=True):
    """Something for the client's log."""

    level: Level
    data: Any
    logger: str | None = None


class ProtocolError(Exception):
    """A call that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Ended(Struct, frozen=True):
    """What came of the call: blocks of content as the protocol writes them, and a record."""

    content: Sequence[Mapping[str, Any]]
    structured: Any = None
    failed: bool = False
    meta: Mapping[str, Any] | None = None
    error: ProtocolError | None = None


Event = Asked | Shown | Said | Ended


class Ongoing(Protocol):
    """A call under way. Whoever got it reads its events until it has ended, or cancels it."""

    async def next(self) -> Event:
        """What happens next; nothing comes after `Ended`."""

    def more(self) -> Event | None:
        """What has happened already and was not read yet."""

    def answer(self, key: str, result: Mapping[str, Any] | None) -> None:
        """What the client gave for a request; None when it could or would not answer."""

    async def cancel(self) -> None:
        """Stop it; nobody waits for it any more."""


class Offer(Protocol):
    """Someone's tools."""

    async def tools(self) -> Sequence[OfferedTool]:
        """The tools there are now."""

    async def begin(
        self, tool: str, arguments: dict[str, Any], abilities: frozenset[str]
    ) -> Ongoing:
        """Start a call for a client that can answer requests of these methods.

        Raises a `ProtocolError`, or a `SteersmanError` whose sentence is the call's result.
        """
