"""What is wrong with settings, in plain words: the name that was meant, what a value must be."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import Struct, inspect

from steersman.records.settings import Settings


def fault(values: Mapping[str, Any], of: type[Struct] = Settings, inside: str = "") -> str:
    """Why values are no settings, as sentences; empty when they are."""
    info = inspect.type_info(of)
    assert isinstance(info, inspect.StructType)
    kinds = {field.encode_name: field.type for field in info.fields}
    for name, value in values.items():
        whole, kind = f"{inside}{name}", kinds.get(name)
        if kind is None:
            return no_such(whole, [f"{inside}{known}" for known in kinds])
        if isinstance(kind, inspect.StructType) and isinstance(value, Mapping):
            if told := fault(value, kind.cls, f"{whole}."):
                return told
        elif not _fits(name, value, of):
            said = f"“{value}” is not valid for {whole}." if _plain(value) else f"{whole}:"
            return f"{said} It must be {_described(kind)}.{_meant(value, kind)}"
    return ""


def nearest(name: str, known: list[str]) -> str:
    """What someone meant who wrote a name that is none; empty when nobody can tell."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f" Did you mean “{near[0]}”?" if near else ""


def no_such(name: str, known: list[str]) -> str:
    """That there is no setting of a name, and which was meant or which there are."""
    near = " or ".join(f"“{one}”" for one in get_close_matches(name, known, n=2, cutoff=0.6))
    there = f"Did you mean {near}?" if near else f"There are: {', '.join(known)}."
    return f"There is no setting “{name}”. {there}"


def _fits(name: str, value: Any, of: type[Struct]) -> bool:
    try:
        msgspec.convert({name: value}, of, strict=False)
    except msgspec.ValidationError:
        return False
    return True


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _described(kind: inspect.Type) -> str:
    match kind:
        case inspect.UnionType(types=(first, *_)):
            return _described(first)
        case inspect.LiteralType(values=values):
            return f"one of {', '.join(map(str, values))}"
        case inspect.IntType(ge=least):
            return "a whole number" + (f" of at least {least}" if least is not None else "")
        case inspect.FloatType():
            return "a number above 0"
        case inspect.VarTupleType():
            return "a list of words"
        case inspect.StructType() | inspect.DictType():
            return "a table"
        case _:
            return "text"


def _meant(value: Any, kind: inspect.Type) -> str:
    if not isinstance(kind, inspect.LiteralType):
        return ""
    return nearest(str(value), [str(one) for one in kind.values])
