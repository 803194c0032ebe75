"""A question whose answer is data: JSON of a given type, checked, and repaired once if need be."""

import re
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, TypeVar

import msgspec

from steersman.records import validation
from steersman.records.dialogue import AssistantItem, Completed, Driver, Item, Prompt, UserItem
from steersman.records.errors import DriverProblem

T = TypeVar("T")
Noted = Callable[[Completed], None]

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
ASK = """\
Answer with JSON only, no other words. It must fit this JSON Schema:
{schema}"""
AGAIN = """\
That does not fit the schema: {error}.
Answer again with the whole JSON, corrected, and no other words."""


async def ask_for(
    driver: Driver,
    prompt: Prompt,
    type_: type[T],
    *,
    native: bool = False,
    noted: Noted | None = None,
) -> T:
    """An answer of a type.

    `native`: the provider can hold the model to a schema itself, and is asked to; where it turns
    out that it cannot, the model is asked in words. `noted` sees every whole answer, for the bill.
    """
    schema = schema_of(type_)
    if native:
        try:
            return await _ask(driver, msgspec.structs.replace(prompt, schema=schema), type_, noted)
        except DriverProblem as problem:
            if problem.kind != "bad_request":
                raise
    return await _ask(driver, in_words(prompt, schema), type_, noted)


async def _ask(driver: Driver, prompt: Prompt, type_: type[T], noted: Noted | None) -> T:
    answer = await _answer(driver, prompt, noted)
    try:
        return read(answer.text, type_)
    except msgspec.MsgspecError as error:
        wrong = validation.in_words(error)
    said = AssistantItem(answer.text, "", (), answer.state)
    items: list[Item] = [*prompt.items, said, UserItem(AGAIN.format(error=wrong))]
    answer = await _answer(driver, msgspec.structs.replace(prompt, items=items), noted)
    try:
        return read(answer.text, type_)
    except msgspec.MsgspecError as error:
        raise DriverProblem(
            "The model did not give an answer of the wanted form.",
            f"{validation.sentence(error)} It said: {answer.text[:200]!r}",
            "Ask again, or choose another model.",
            kind="empty",
        ) from error


async def _answer(driver: Driver, prompt: Prompt, noted: Noted | None) -> Completed:
    async with aclosing(driver.stream(prompt)) as events:
        async for event in events:
            if isinstance(event, Completed):
                if noted is not None:
                    noted(event)
                return event
    raise DriverProblem(
        "The model's answer ended before it was complete.", retryable=True, kind="dropped"
    )


def in_words(prompt: Prompt, schema: dict[str, Any]) -> Prompt:
    """The same prompt with the schema as a last word; what comes before it stays as it is."""
    text = ASK.format(schema=msgspec.json.encode(schema).decode())
    return msgspec.structs.replace(prompt, items=[*prompt.items, UserItem(text, steer=True)])


def schema_of(type_: Any) -> dict[str, Any]:
    """The JSON Schema of a type as providers take it: an object at its root, closed objects."""
    schema = msgspec.json.schema(type_)
    definitions = schema.pop("$defs", {})
    reference = schema.get("$ref", "")
    if reference:
        schema = dict(definitions[reference.rpartition("/")[2]])
    if definitions and "#/$defs/" in str((schema, *definitions.values())):
        schema["$defs"] = definitions
    _close(schema)
    return schema


def _close(schema: Any) -> None:
    """Objects with known properties have no others."""
    if isinstance(schema, list):
        for part in schema:
            _close(part)
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            _close(part)


def read(text: str, type_: type[T]) -> T:
    """The value in an answer: the whole text, a fenced block of it, or the JSON within it."""
    problem: msgspec.MsgspecError | None = None
    for candidate in _candidates(text):
        try:
            return msgspec.json.decode(candidate, type=type_)
        except msgspec.MsgspecError as error:
            # JSON of the wrong form says more than text that is not a JSON at all.
            if problem is None or isinstance(error, msgspec.ValidationError):
                problem = error
        except (UnicodeEncodeError, RecursionError):
            continue
    raise problem or msgspec.DecodeError("there is no JSON in it")


def _candidates(text: str) -> list[str]:
    found = [text.strip(), *(block.strip() for block in _FENCE.findall(text))]
    for opening, closing in ("{}", "[]"):
        start, end = text.find(opening), text.rfind(closing)
        if 0 <= start < end:
            found.append(text[start : end + 1])
    return [candidate for candidate in dict.fromkeys(found) if candidate]
