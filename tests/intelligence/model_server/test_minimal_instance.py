"""The value made for a schema fits it."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.intelligence.scripted.wires.schema import minimal_instance

TREE = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            },
            "required": ["name", "next"],
        }
    },
    "$ref": "#/$defs/node",
}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, {}),
        ({"type": "object"}, {}),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, {}),
        ({"type": "string"}, "scripted"),
        ({"type": "string", "maxLength": 3}, "scr"),
        ({"type": "string", "minLength": 10}, "scripted--"),
        ({"type": "integer"}, 0),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "integer", "exclusiveMaximum": -2}, -3),
        ({"type": "integer", "minimum": 7, "multipleOf": 5}, 10),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, 1),
        ({"type": "boolean"}, False),
        ({"type": "null"}, None),
        ({"type": ["null", "integer"]}, 0),
        (
            {"type": "OBJECT", "properties": {"a": {"type": "BOOLEAN"}}, "required": ["a"]},
            {"a": False},
        ),
        ({"enum": ["b", "a"]}, "b"),
        ({"const": 7}, 7),
        ({"type": "array", "items": {"type": "integer"}}, []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [0, 0]),
        ({"type": "array", "prefixItems": [{"const": 1}], "minItems": 2}, [1, "scripted"]),
        ({"properties": {"a": {"enum": [1]}}, "required": ["a"]}, {"a": 1}),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, 0),
        (TREE, {"name": "scripted", "next": None}),
        (
            {
                "allOf": [
                    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "boolean"}}, "required": ["b"]},
                ]
            },
            {"a": 0, "b": False},
        ),
        (
            {
                "definitions": {"a/b": {"enum": ["x"]}},
                "allOf": [{"$ref": "#/definitions/a~1b"}],
            },
            "x",
        ),
    ],
)
def test_the_smallest_value(schema: dict[str, Any], value: Any) -> None:
    assert minimal_instance(schema) == value
    if schema.get("type") != "OBJECT":
        jsonschema.validate(value, schema)


FORMATS = ["date-time", "date", "time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "x"]


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name: str) -> None:
    schema = {"type": "string", "format": name}
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.validate(minimal_instance(schema), schema, format_checker=checker)


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"},
        {"type": "object", "properties": [1], "required": ["a"]},
        {"type": "array", "minItems": "many"},
        {"anyOf": 3},
    ],
)
def test_what_has_no_value_gets_an_empty_object(schema: dict[str, Any]) -> None:
    assert minimal_instance(schema) == {}


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    whole = st.integers(-20, 20)
    plain = st.one_of(
        st.sampled_from(["null", "boolean", "string", "integer", "number"]).map(
            lambda name: {"type": name}
        ),
        st.lists(whole | st.text(max_size=3), min_size=1).map(lambda values: {"enum": values}),
        st.tuples(st.integers(0, 9), st.integers(0, 9)).map(
            lambda ends: {"type": "string", "minLength": min(ends), "maxLength": max(ends)}
        ),
        st.tuples(st.sampled_from(["integer", "number"]), whole, whole).map(
            lambda given: {
                "type": given[0],
                "minimum": min(given[1:]),
                "maximum": max(given[1:]),
            }
        ),
        st.tuples(st.sampled_from(["exclusiveMinimum", "exclusiveMaximum"]), whole).map(
            lambda given: {"type": "integer", given[0]: given[1]}
        ),
        st.sampled_from([{"$ref": "#/$defs/word"}, {"$ref": "#/$defs/node"}]),
    )

    def nested(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        def thing(members: dict[str, Any]) -> dict[str, Any]:
            required = [name for name in members if not name.startswith("o")]
            return {"type": "object", "properties": members, "required": required}

        return st.one_of(
            st.dictionaries(st.sampled_from(["a", "b", "o1"]), inner).map(thing),
            st.tuples(inner, st.integers(0, 3)).map(
                lambda given: {"type": "array", "items": given[0], "minItems": given[1]}
            ),
            st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options}),
        )

    return st.recursive(plain, nested, max_leaves=12)


@settings(max_examples=300, deadline=None)
@given(schemas())
def test_any_schema_is_met(schema: dict[str, Any]) -> None:
    defined = {"word": {"type": "string"}, "node": TREE["$defs"]["node"]}
    whole = {"type": "object", "properties": {"v": schema}, "required": ["v"], "$defs": defined}
    jsonschema.validate(minimal_instance(whole), whole)
