"""Whether a file is worth parsing for a name, judged by its text: parsing costs a hundred times as
much as looking. Only a no must be right."""

from __future__ import annotations

import os
import re

from steersman.operations.code.records import Symbol

_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([^\n#]+)", re.M)
_WORD = re.compile(rb"\w+")
_MEMBERS = frozenset({"method", "field", "property", "constructor"})


def may_define(content: bytes, parts: list[str], substring: bool, language: str) -> bool:
    """Whether a file may define a name; `parts` are those of the name path that is asked for."""
    if not all(part.encode() in content for part in parts):
        return language in ("markdown", "json", "toml", "yaml") or not content.isascii()
    if language != "python":
        return True
    name = re.escape(parts[-1].encode())
    word = rb"\w*" + name + rb"\w*" if substring else rb"\b" + name + rb"\b"
    pattern = rb"\b(?:def|class|type)[ \t]+" + word + rb"|" + word + rb"[ \t]*[])]*[ \t]*[,:=]"
    return re.search(pattern, content) is not None


def may_use(content: bytes, symbol: Symbol, language: str) -> bool:
    """Whether another file than its own may use a symbol."""
    if language != "python" or not symbol.name.isascii():
        return True
    name = re.escape(symbol.name.encode())
    if symbol.kind in _MEMBERS and "/" in symbol.name_path:
        return re.search(rb"\." + rb"\s*" + name + rb"\b|\b" + name + rb"\s*=", content) is not None
    known = set(_WORD.findall(os.fsencode(os.path.splitext(symbol.path)[0])))
    return any(
        said.startswith(b".") or not known.isdisjoint(_WORD.findall(said))
        for said in _IMPORT.findall(content)
    )
