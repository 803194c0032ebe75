"""The whole of what a command printed, where the log has only the beginning and the end of it."""

import os
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from steersman.host.application import Host

LARGEST = 8 << 20  # bytes that are read at most
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Kept(Struct, frozen=True):
    """What is kept of an output: its text, and how many bytes come before it."""

    text: str
    before: int = 0


def artifact(output: Any) -> str:
    """The name under which the whole of an output is kept; empty when the log has all of it."""
    found = output.get("artifact") if isinstance(output, Mapping) else None
    return found if isinstance(found, str) and _DIGEST.fullmatch(found) else ""


def kept(host: Host, digest: str, most: int = LARGEST) -> Kept:
    """An output by its name; of a huge one the end. Raises when it is not kept any more."""
    with host.way_back.objects.open(digest) as file:
        size = file.seek(0, os.SEEK_END)
        before = max(0, size - most)
        file.seek(before)
        return Kept(file.read(most).decode(errors="replace"), before)
