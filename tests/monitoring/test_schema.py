"""The schema of a message line: as published, and true of every message there can be."""

import builtins
import json
import types
import typing
from typing import Any, get_args, get_origin

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from steersman.records.message import BODIES, Message, encode_message
from steersman.records.schema import message_schema
from tests.store.elsewhere import ROOT
from tests.store.made import START

VALIDATOR = Draft202012Validator(message_schema())


def test_the_published_schema_is_the_one_the_records_give():
    """After a change: `steer ledger schema > docs/messages.schema.json`."""
    published = json.loads((ROOT / "docs" / "messages.schema.json").read_text())
    assert published == message_schema()


def test_the_schema_is_a_schema_and_knows_every_kind():
    Draft202012Validator.check_schema(message_schema())
    kinds = [kind["properties"]["kind"]["const"] for kind in message_schema()["oneOf"]]
    assert sorted(kinds) == sorted(BODIES)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab\n"),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.text("ab"), below, max_size=2),
    max_leaves=4,
)


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type, records field by field; `Any` is whatever JSON can say."""
    if kind is Any:
        return json_values
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = msgspec.structs.fields(kind)
        return st.builds(kind, **{field.name: values(field.type) for field in fields})
    parts = [part for part in get_args(kind) if part is not Ellipsis]
    match get_origin(kind):
        case types.UnionType | typing.Union:
            return st.one_of(*map(values, parts))
        case builtins.tuple:
            return st.lists(values(parts[0]), max_size=2).map(tuple)
        case builtins.list:
            return st.lists(values(parts[0]), max_size=2)
        case builtins.dict:
            return st.dictionaries(st.text("ab"), values(parts[1]), max_size=2)
        case typing.Annotated:
            return values(parts[0])
    simple = {str: st.text("aü\n"), float: st.floats(0, 9), int: st.integers(0, 9)}
    return simple[kind] if kind in simple else st.from_type(kind)


@pytest.mark.parametrize("kind", BODIES.values(), ids=BODIES)
@settings(max_examples=8)
@given(data=st.data())
def test_every_message_of_this_kind_keeps_to_the_schema(kind, data):
    body = data.draw(values(kind))
    line = encode_message(Message("t", 1, START, 0, kind.kind, "steersman", None, body))
    VALIDATOR.validate(json.loads(line))


CORRECT = json.loads(
    encode_message(Message("t", 1, START, 0, "user", "steersman", None, BODIES["user"]("hi")))
)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "unheard_of"},
        {"kind": "tool_call"},
        {"seq": -1},
        {"seq": "1"},
        {"corr": 7},
        {"body": {}},
        {"body": {"text": 7}},
        {"body": {"text": "x", "via": "telepathy"}},
        {"time": None},
    ],
    ids=str,
)
def test_what_is_no_message_does_not_keep_to_it(change):
    VALIDATOR.validate(CORRECT)
    assert not VALIDATOR.is_valid(CORRECT | change)


@pytest.mark.parametrize("name", ["thread", "seq", "time", "turn", "kind", "path", "corr", "body"])
def test_every_field_of_a_message_must_be_there(name):
    assert not VALIDATOR.is_valid({key: item for key, item in CORRECT.items() if key != name})
