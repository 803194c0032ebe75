"""Answers of a type: read from what models say, repaired once, by a provider's own means first."""

import asyncio
from typing import Literal

import pytest
from jsonschema import Draft202012Validator
from msgspec import Struct

from steersman.intelligence.configured import read_config
from steersman.intelligence.models import Models
from steersman.intelligence.structured import ask_for, read, schema_of
from steersman.records.dialogue import AssistantItem, Completed, Tokens
from steersman.records.errors import DriverProblem
from tests.intelligence.asking import HELLO, Fixed
from tests.intelligence.model_server.conftest import Stage


class Finding(Struct):
    """One remark of a review."""

    file: str
    line: int
    weight: Literal["low", "high"] = "low"


class Review(Struct):
    """A whole review."""

    verdict: str
    findings: list[Finding] = []


GOOD = '{"verdict": "fine", "findings": [{"file": "a.py", "line": 3}]}'
VALUE = Review("fine", [Finding("a.py", 3)])


def run(driver, type_=Review, **how):
    return asyncio.run(ask_for(driver, HELLO, type_, **how))


@pytest.mark.parametrize(
    "said",
    [
        GOOD,
        f"Here it is:\n```json\n{GOOD}\n```\nAnything else?",
        f"```\n{GOOD}\n```",
        f"Sure! {GOOD} Done.",
        f"  {GOOD}\n",
    ],
)
def test_the_value_is_found_in_what_was_said(said):
    assert run(Fixed("m", said)) == VALUE


def test_lists_and_plain_values_are_types_too():
    assert run(Fixed("m", "I see [1, 2]."), list[int]) == [1, 2]
    assert read("true", bool) is True


def test_the_schema_is_asked_for_in_words_as_the_last_word():
    driver = Fixed("m", GOOD)

    run(driver)

    (prompt,) = driver.prompts
    assert prompt.schema is None
    assert prompt.items[:-1] == HELLO.items
    assert '"verdict"' in prompt.items[-1].text


def test_a_wrong_answer_is_repaired_once():
    driver = Fixed("m", '{"verdict": 5}', GOOD)

    assert run(driver) == VALUE
    again = driver.prompts[1].items
    assert again[-2] == AssistantItem('{"verdict": 5}', "", ())
    assert "`verdict` must be text, not a whole number" in again[-1].text


def test_twice_wrong_is_a_problem():
    with pytest.raises(DriverProblem) as told:
        run(Fixed("m", "I would rather not."))
    assert told.value.what == "The model did not give an answer of the wanted form."
    assert "I would rather not." in told.value.why


def test_the_providers_own_means_come_first():
    driver = Fixed("m", GOOD)

    assert run(driver, native=True) == VALUE
    assert driver.prompts[0].schema == schema_of(Review)
    assert driver.prompts[0].items == HELLO.items


def test_where_they_turn_out_not_to_be_there_words_do():
    driver = Fixed("m", DriverProblem("No such field.", kind="bad_request"), GOOD)

    assert run(driver, native=True) == VALUE
    assert [bool(prompt.schema) for prompt in driver.prompts] == [True, False]


def test_other_problems_are_told():
    with pytest.raises(DriverProblem, match="Busy"):
        run(Fixed("m", DriverProblem("Busy.", kind="overloaded")), native=True)


def test_every_answer_is_paid_for():
    paid = []
    wrong = Completed("no", tokens=Tokens(input=5, output=1))

    run(Fixed("m", wrong, Completed(GOOD, tokens=Tokens(input=9))), noted=paid.append)

    assert [answer.tokens.input for answer in paid] == [5, 9]


def test_the_schema_is_one_that_providers_take():
    schema = schema_of(Review)

    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Finding"]["additionalProperties"] is False
    assert "$defs" not in schema_of(Finding)


@pytest.mark.parametrize("provider", ["openai", "openai-chat", "anthropic", "gemini"])
def test_a_real_driver_and_server(provider):
    """The server gives a minimal instance of the schema it is asked for."""
    stage = Stage()
    try:
        stage.play({"text": "filler"})
        base = f"{stage.url}/v1" if provider.startswith("openai") else stage.url
        own = {"wire": provider, "base_url": base}
        driver = Models({}, read_config(providers={"here": own})).open("here:m")

        assert isinstance(run(driver, native=True), Review)
    finally:
        stage.close()
