"""Messages as they come from a server's standard output: lines, JSON, the envelope. Pure."""

import re
from typing import Any

import msgspec

from steersman.operations.mcp.shapes import Json, shown

LARGEST = 16 * 1024 * 1024
# Escapes of a text: half a letter, where another half does not follow, is what programs write that
# cut a text in the middle of a picture; any other escape is passed over as a whole.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.S,
)


class TooLarge(Exception):
    """A line that is longer than any message may be."""


class Lines:
    """Puts pieces together to lines; a line that grows too long is an end of patience."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that a piece makes complete, without what is empty."""
        *complete, rest = piece.split(b"\n")
        lines = []
        for part in complete:
            self._keep(part)
            lines.append(b"".join(self._pieces).strip())
            self._pieces, self._size = [], 0
        self._keep(rest)
        return [line for line in lines if line]

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._largest:
            raise TooLarge
        if part:
            self._pieces.append(part)


def messages(line: bytes) -> list[Json]:
    """The messages of a line, their envelopes fixed; none when it is garbage."""
    try:
        said = _decoded(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []
    batch = said if isinstance(said, list) else [said]
    return [message for one in batch if (message := _repaired(one)) is not None]


def _decoded(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError:
        whole = _ESCAPE.sub(lambda one: b"\\ufffd" if one["half"] else one[0], line)
        if whole == line:
            raise
        return msgspec.json.decode(whole)


def _repaired(said: Any) -> Json | None:
    """A message that the protocol library reads, or nothing."""
    if not isinstance(said, dict):
        return None
    message: Json = {"jsonrpc": "2.0"}
    number = said.get("id")
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, str | int) and not isinstance(number, bool):
        message["id"] = number
    if isinstance(said.get("method"), str):
        message["method"] = said["method"]
        if isinstance(said.get("params"), dict):
            message["params"] = said["params"]
        return message
    if said.get("error") is not None:
        message["error"] = _error(said["error"])
        message.setdefault("id", None)
        return message
    if "id" not in message or "result" not in said:
        return None
    result = said["result"]
    message["result"] = result if isinstance(result, dict) else {"content": result}
    return message


def _error(said: Any) -> Json:
    found = said if isinstance(said, dict) else {"message": said}
    code, message = found.get("code"), found.get("message")
    error: Json = {
        "code": code if isinstance(code, int) and not isinstance(code, bool) else -32603,
        "message": message if isinstance(message, str) else shown(message),
    }
    if "data" in found:
        error["data"] = found["data"]
    return error
