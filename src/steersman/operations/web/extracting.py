"""The readable text of a web page, in a process of its own: a page is a stranger's program.

`python -P -m steersman.operations.web.extracting` reads what it is and a line later the page or
another text from its input, and writes `{"title", "text"}`. It has little memory and little time,
and nothing of the host's. Addresses may carry tokens, so none is on its command line.
"""

import asyncio
import re
import subprocess
import sys
from codecs import lookup
from importlib.util import find_spec
from typing import Any

import msgspec
from msgspec import Struct

from steersman import children
from steersman.records.errors import ToolProblem
from steersman.records.visible import UNSAFE

SECONDS = 20
MEMORY = 1 << 30


class Reading(Struct, frozen=True):
    """A page as one reads it, in Markdown."""

    title: str
    text: str


async def read(body: bytes, url: str, charset: str, *, page: bool) -> Reading:
    """The text of a page, or of another file; raises where it cannot be had."""
    argv = [sys.executable, "-P", "-m", __name__]
    said = msgspec.json.encode([page, url, charset]) + b"\n" + body
    try:
        done = await asyncio.to_thread(
            children.run, argv, seconds=SECONDS + 10, cwd="/", environ={}, said=said
        )
    except subprocess.TimeoutExpired:
        raise _unreadable("Reading it takes too long.") from None
    if done.returncode == 3:
        raise ToolProblem(
            "Web pages cannot be read here: the extractor is not installed.",
            try_this="Install Steersman with its extra “web”: pip install 'steersman[web]'.",
        )
    if done.returncode == 4:
        raise _unreadable("Its style sheets are too intricate to tell what of it is hidden.")
    try:
        return msgspec.json.decode(done.stdout, type=Reading)
    except msgspec.MsgspecError:
        raise _unreadable("It is not a page, or far too large or deep for one.") from None


def _unreadable(why: str) -> ToolProblem:
    return ToolProblem("The text of this page could not be read.", why)


def decoded(body: bytes, charset: str) -> str:
    """The text of bytes: by their mark, else as the server says, else as they look."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"),
                       (b"\xfe\xff", "utf-16")):  # fmt: skip
        if body.startswith(mark):
            return body.decode(name, "replace")
    declared = re.search(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{2,40})", body[:4096], re.I)
    said = [charset, declared[1].decode() if declared else ""]
    for name in said:
        try:
            lookup(name)
            return body.decode(name)
        except (LookupError, UnicodeError, ValueError):
            continue
    try:
        return body.decode()
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(body[:65536]).best()
        return body.decode(best.encoding if best else "latin-1", "replace")


def extracted(page: str, url: str) -> Reading:
    """The title and the readable part of a page."""
    import trafilatura
    from trafilatura.utils import load_html

    from steersman.operations.web.hiding import drop_unseen

    tree = load_html(_undeclared(page))
    if tree is None:
        return Reading("", "")
    title = " ".join((tree.findtext(".//title") or "").split())
    drop_unseen(tree)
    found = trafilatura.extract(
        tree,
        url=url,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_comments=True,
        favor_recall=True,
        deduplicate=False,
    )
    return Reading(title, found or _all_of(tree))


def _undeclared(page: str) -> str:
    """A page without the declaration of an encoding that it no longer has."""
    return re.sub(r"^\s*<\?xml[^>]*\?>", "", page)


def _all_of(tree: Any) -> str:
    """Everything that is written on a page, where no part of it looks like the main one."""
    body = tree.find(".//body")
    words = (body if body is not None else tree).itertext()
    lines = (" ".join(piece.split()) for piece in words)
    return "\n".join(line for line in lines if line)


def _seen(text: str) -> str:
    """Text without what no reader would see: letters without width, marks of direction."""
    return UNSAFE.sub("", text.replace("\r\n", "\n")).strip()


def main() -> int:
    """Read what is on standard input."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    page, url, charset = msgspec.json.decode(sys.stdin.buffer.readline())
    if page and find_spec("trafilatura") is None:
        return 3
    text = decoded(sys.stdin.buffer.read(), charset)
    from steersman.operations.web.styles import TooIntricate

    try:
        made = extracted(text, url) if page else Reading("", text)
    except TooIntricate:
        return 4
    sys.stdout.buffer.write(msgspec.json.encode(Reading(_seen(made.title), _seen(made.text))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
