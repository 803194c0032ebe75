"""Whether a class can have what another class defines: by what its head says it is made from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from steersman.operations.code.trees.definition import Definition

_WORD = re.compile(r"\w+")
_NO_BASE = frozenset(
    {"class", "struct", "interface", "trait", "enum", "extends", "implements", "public", "private",
     "protected", "internal", "abstract", "final", "static", "export", "default", "declare", "open",
     "sealed", "data", "partial", "pub", "metaclass", "object", "Generic", "Protocol", "ABC",
     "ABCMeta", "type", "virtual", "record", "actor", "in", "out", "where", "T"}
)  # fmt: skip


def may_have(definitions: Sequence[Definition], owner: str, name: str, other: str) -> bool:
    """Whether `self.name` in the class at the name path `owner` can be that of `other`."""
    classes = {one.name: one for one in definitions if one.name_path == owner or _is_type(one)}
    waiting, seen = [owner.rpartition("/")[2]], set[str]()
    while waiting:
        this = waiting.pop()
        if this == other:
            return True
        if this in seen:
            continue
        seen.add(this)
        known = classes.get(this)
        if known is None:
            return True  # made from something that is not in this file: nobody knows
        if any(one.name_path == f"{known.name_path}/{name}" for one in definitions):
            continue  # it has one of its own
        waiting += [w for w in _WORD.findall(known.signature) if w not in _NO_BASE | {this}]
    return False


def _is_type(one: Definition) -> bool:
    return one.kind in ("class", "struct", "interface", "trait", "enum")
