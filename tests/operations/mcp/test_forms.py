"""Forms of servers: which questions they become, and what answers become."""

import pytest

from steersman.operations.mcp.forms import fields, filled

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "your name"},
        "age": {"type": "integer", "title": "Age"},
        "share": {"type": "number", "default": 0.5},
        "sure": {"type": "boolean", "default": False},
        "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["red", "green"]},
        "size": {"oneOf": [{"const": 1, "title": "small"}, {"const": 2, "title": "large"}]},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "default": ["a", "b"]},
        "odd": "not a field",
    },
    "required": ["name"],
}

CASES = [
    ("name", "name: your name", (), "", " Ann ", "Ann"),
    ("age", "age: Age", (), "", "41", 41),
    ("share", "share", (), "0.5", "0.25", 0.25),
    ("sure", "sure", ("yes", "no"), "no", "yes", True),
    ("colour", "colour", ("red", "green"), "", "green", "g"),
    ("colour", "colour", ("red", "green"), "", "r", "r"),
    ("size", "size", ("small", "large"), "", "large", 2),
    ("tags", "tags", ("a", "b", "c"), "a, b", "c, a", ["c", "a"]),
    ("name", "name: your name", (), "", "  ", None),
]


@pytest.mark.parametrize(("name", "question", "options", "default", "answer", "value"), CASES)
def test_a_field_is_a_question_and_its_answer_a_value(
    name, question, options, default, answer, value
):
    field = {one.name: one for one in fields(FORM)}[name]
    assert (field.question, field.options, field.default) == (question, options, default)
    assert filled(field, answer) == value


def test_only_what_must_be_answered_is_required():
    assert [one.name for one in fields(FORM) if one.required] == ["name"]


@pytest.mark.parametrize(
    ("name", "answer"), [("age", "old"), ("share", "half"), ("sure", "maybe"), ("tags", "a, z")]
)
def test_an_answer_that_does_not_fit_is_told(name, answer):
    field = {one.name: one for one in fields(FORM)}[name]
    with pytest.raises(ValueError, match=r".+"):
        filled(field, answer)


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {"a": 1}}])
def test_what_is_no_form_has_no_fields(schema):
    assert fields(schema) == []
