"""What a library says about wrong data is put in plain words."""

from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from steersman.records.counting import counted
from steersman.records.validation import in_words


class Inner(Struct, forbid_unknown_fields=True):
    path: str


class Data(Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1)] = "x"
    limit: Annotated[int, Meta(ge=1, le=9)] = 1
    how: Literal["a", "b"] = "a"
    maybe: int | None = None
    inner: list[Inner] = []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"limit": "x"}', "`limit` must be a whole number, not text"),
        ('{"maybe": "x"}', "`maybe` must be a whole number or null, not text"),
        ('{"limit": 0}', "`limit` must be at least 1"),
        ('{"limit": 10}', "`limit` must be at most 9"),
        ('{"name": ""}', "`name` must not be empty"),
        ('{"how": "c"}', "`how` cannot be 'c'"),
        ('{"inner": {}}', "`inner` must be a list, not an object"),
        ('{"inner": [{}]}', "`inner[0].path` is missing"),
        ('{"inner": [{"path": 1}]}', "`inner[0].path` must be text, not a whole number"),
        ('{"nmae": "x"}', "there is no `nmae`"),
        ("[]", "it must be an object, not a list"),
        ("{,}", "at byte 1: object keys must be strings"),
        ('{"name"', "the JSON is cut off"),
    ],
)
def test_what_is_wrong_with_data_is_said_in_plain_words(text, words):
    with pytest.raises(msgspec.MsgspecError) as caught:
        msgspec.json.decode(text, type=Data)
    assert in_words(caught.value) == words


def test_another_error_keeps_its_words():
    assert in_words(ValueError("The file is empty.")) == "the file is empty"


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (0, "file", "0 files"),
        (1, "file", "1 file"),
        (2, "more line", "2 more lines"),
        (1_000, "process", "1,000 processes"),
        (3, "match", "3 matches"),
    ],
)
def test_a_number_agrees_with_its_noun(number, noun, words):
    assert counted(number, noun) == words
