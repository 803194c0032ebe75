"""Bytes that are not for a page to show: downloaded whole, or a range of them."""

from steersman.ports.http.asgi import Receive, Response, Scope, Send, header
from steersman.records.patterns import pattern

BYTES = "application/octet-stream"
_RANGE = pattern(r"(?i:bytes)\s*=\s*([0-9]{0,18})\s*-\s*([0-9]{0,18})")


class Download(Response):
    """Some bytes, or the range of them that the request asks for."""

    def __init__(self, data: bytes, name: str) -> None:
        kept = f'attachment; filename="{name}"'
        super().__init__(data, kind=BYTES, accept_ranges="bytes", content_disposition=kept)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the range: a request that cannot be understood gets the whole."""
        size = len(self.body)
        wanted = span(header(scope, b"range"), size)
        if wanted is not None:
            self.status = 206 if wanted else 416
            self.body = self.body[wanted.start : wanted.stop]
            where = f"{wanted.start}-{wanted.stop - 1}" if wanted else "*"
            self.headers["content_range"] = f"bytes {where}/{size}"
        await super().__call__(scope, receive, send)


def span(said: str, size: int) -> range | None:
    """The bytes that a `Range` means; none when there are none, None when it is not one range."""
    found = _RANGE.fullmatch(said.strip())
    if found is None:
        return None
    first, last = found.groups()
    if not first:
        return range(max(0, size - int(last)), size) if last else None
    if last and int(last) < int(first):
        return None
    return range(int(first), min(int(last) + 1, size) if last else size)
