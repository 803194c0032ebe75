"""Other people's schemas become such that every provider takes them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from steersman.operations.mcp.plain_schema import LARGEST, plain

TEXT = {"type": "string"}


def top(properties, **more):
    return {"type": "object", "properties": properties, **more}


@pytest.mark.parametrize(
    ("given_schema", "expected"),
    [
        ({}, top({})),
        (None, top({}, additionalProperties=True)),
        ([], top({}, additionalProperties=True)),
        ({"$schema": "https://x/", "title": "Args", "type": "object"}, top({})),
        (top({"a": TEXT}, required=["a"]), top({"a": TEXT}, required=["a"])),
        # `required` names only what there is; a draft-4 `required: true` means nothing here.
        (top({"a": {**TEXT, "required": True}}, required=["a", "b", "a"]),
         top({"a": TEXT}, required=["a"])),
        # An array has items; a schema that is only true is anything.
        (
            top({"a": {"type": "array"}, "b": True}),
            top({"a": {"type": "array", "items": {}}, "b": {}}),
        ),
        # References are written out.
        (
            {**top({"a": {"$ref": "#/$defs/A", "description": "an A"}}), "$defs": {"A": TEXT}},
            top({"a": {**TEXT, "description": "an A"}}),
        ),
        (
            {**top({"a": {"$ref": "#/definitions/x~1y"}}), "definitions": {"x/y": TEXT}},
            top({"a": TEXT}),
        ),
        (top({"a": {"$ref": "#/$defs/Missing"}}), top({"a": {}})),
        (top({"a": {"$ref": "https://elsewhere/"}}), top({"a": {}})),
        # What holds itself is anything from there on.
        (
            {
                **top({"tree": {"$ref": "#/$defs/T"}}),
                "$defs": {"T": top({"next": {"$ref": "#/$defs/T"}})},
            },
            top({"tree": top({"next": {}})}),
        ),
        # No choice at the top: providers refuse that.
        (
            {
                "anyOf": [
                    top({"a": TEXT, "b": TEXT}, required=["a", "b"]),
                    top({"a": TEXT}, required=["a"]),
                ]
            },
            top({"a": TEXT, "b": TEXT}, required=["a"]),
        ),
        (
            {"allOf": [top({"a": TEXT}, required=["a"]), top({"b": TEXT}, required=["b"])]},
            top({"a": TEXT, "b": TEXT}, required=["a", "b"]),
        ),
        # Words of the wrong kind, or of no use to a model.
        (
            top({"a": {"type": "integer", "exclusiveMinimum": True, "minimum": "0", "enum": []}}),
            top({"a": {"type": "integer"}}),
        ),
        (top({"a": {"type": "any"}, "b": {"type": ["string", "null"]}}),
         top({"a": {}, "b": {"type": ["string", "null"]}})),
        ({**top({"a": TEXT}), "if": {}, "then": {}, "patternProperties": {}}, top({"a": TEXT})),
        # A name that a provider refuses: better anything than nothing.
        (top({"weird name!": TEXT}), top({}, additionalProperties=True)),
    ],
)  # fmt: skip
def test_a_schema_made_plain(given_schema, expected):
    assert plain(given_schema) == expected


def test_a_schema_that_is_too_large_loses_its_words_then_its_form():
    wordy = top({f"a{n}": {**TEXT, "description": "word " * 100} for n in range(100)})
    assert plain(wordy) == top({f"a{n}": TEXT for n in range(100)})
    huge = top({f"a{n}": TEXT for n in range(3000)})
    assert plain(huge) == top({}, additionalProperties=True)


def test_a_property_may_be_called_like_a_word_of_schemas():
    named = top({"description": TEXT, "properties": TEXT, "$ref": TEXT, "required": TEXT})
    without = top({"description": TEXT, "properties": TEXT, "required": TEXT})
    assert plain(without) == without
    assert plain(named) == top({}, additionalProperties=True)  # `$` is refused


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["type", "properties", "items", "anyOf", "allOf", "required", "$ref", "$defs", "enum",
             "additionalProperties", "description", "minimum", "a", "b"]
        ),
        inner | st.sampled_from(["object", "array", "#/$defs/a", "#", "#/properties/a"]),
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_whatever_it_is_given_the_answer_is_a_valid_schema_of_an_object(anything):
    found = plain(anything)
    Draft202012Validator.check_schema(found)
    assert found["type"] == "object"
    assert isinstance(found["properties"], dict)
    assert not {"anyOf", "oneOf", "allOf", "enum", "const"} & set(found)
    assert "$ref" not in set(words(found))
    assert len(json.dumps(found)) <= 2 * LARGEST


def words(schema):
    """The words of a schema and of all schemas in it."""
    for word, value in schema.items():
        yield word
        match word, value:
            case "properties", dict():
                inner = list(value.values())
            case "anyOf" | "oneOf" | "allOf" | "prefixItems", list():
                inner = value
            case "items" | "additionalProperties", dict():
                inner = [value]
            case _:
                inner = []
        for one in inner:
            yield from words(one)
