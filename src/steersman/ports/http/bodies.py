"""How much there is in a body of JSON, found without building it.

To build millions of small values takes seconds, and nobody else is served meanwhile: Python does
one thing at a time, in whatever thread.
"""

import asyncio
from io import BytesIO

MOST = 50_000  # keys and values of one text of JSON
_PART = 1 << 18  # bytes at a time
_SMALL = 1 << 16  # such a text is no trouble, whatever is in it


async def too_many(data: bytes, *, lines: bool) -> bool:
    """Whether a text of JSON, or one of several `lines`, has more in it than anyone needs."""
    if len(data) <= _SMALL:
        return False
    texts = BytesIO(data) if lines else (data,)
    return await asyncio.to_thread(lambda: any(map(crowded, texts)))


def crowded(data: bytes) -> bool:
    """The same; each step of it is short, so that other threads have their turns."""
    found, at, within = 0, 0, False
    while at < len(data) and found <= MOST:
        end = at + _PART
        while data[end - 1 : end] == b"\\":  # no escape is torn apart
            end += 1
        part = data[at:end].replace(b"\\\\", b"").replace(b'\\"', b"")
        quotes = part.count(b'"')
        if quotes > 2 * MOST:
            return True
        outside = b"".join(part.split(b'"')[within::2])
        found += sum(outside.count(sign) for sign in (b",", b":", b"[", b"{"))
        within ^= bool(quotes % 2)
        at = end
    return found > MOST
