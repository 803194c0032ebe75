"""What a server asks of the host: samples, answers of a person, roots; the same in both eras."""

import asyncio
import json
from typing import Any

import pytest

from steersman.records.errors import Denied
from steersman.records.mcp_tools import Outcome, Wishes
from tests.operations.mcp.connection.kit import World, read, rough

ERAS = pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def answered(world: World, tool: str, wishes: Wishes, *, modern: bool) -> Any:
    """What the server was answered when its tool had a wish."""

    async def use(world: World) -> Outcome:
        return await world.connection(rough(*["modern"] * modern), wishes).call(tool, {})

    outcome = world.run(use)
    if outcome.failed:
        return outcome.text
    said = json.loads(outcome.text)
    if modern and "state" in said:
        assert said["state"] == "remember me"
        return said["answer"]
    return said


@ERAS
def test_a_server_gets_a_sample_of_a_model(world, modern):
    async def sample(server: str, request: Any) -> str:
        assert server == "rough"
        return f"{request['messages'][0]['content']['text']} back, {request['maxTokens']} tokens"

    answer = answered(world, "sample", Wishes(sample=sample), modern=modern)
    assert answer["content"] == {"type": "text", "text": "hi back, 9 tokens"}
    assert answer["role"] == "assistant"


@ERAS
def test_a_person_answers_a_question(world, modern):
    async def elicit(server: str, message: str, schema: Any) -> tuple[str, dict[str, Any]]:
        assert (server, message) == ("rough", "Which branch?")
        assert schema["properties"] == {"branch": {"type": "string"}}
        return "accept", {"branch": "main"}

    answer = answered(world, "elicit", Wishes(elicit=elicit), modern=modern)
    assert answer["action"] == "accept"
    assert answer["content"] == {"branch": "main"}


@ERAS
def test_a_page_to_be_opened_is_shown_with_its_address(world, modern):
    async def elicit(server: str, message: str, schema: Any) -> tuple[str, dict[str, Any]]:
        assert (message, schema) == ("Sign in", {"mode": "url", "url": "https://example.com/in"})
        return "accept", {"ignored": True}

    answer = answered(world, "visit", Wishes(elicit=elicit), modern=modern)
    assert answer["action"] == "accept"
    assert "content" not in answer


def test_a_page_that_must_be_opened_first_is_shown_and_the_call_is_not_repeated(world):
    async def use(world: World) -> None:
        shown: list[Any] = []

        async def elicit(server: str, message: str, schema: Any) -> tuple[str, dict[str, Any]]:
            shown.append((message, schema["url"]))
            return "accept", {}

        outcome = await world.connection(rough(), Wishes(elicit=elicit)).call("locked", {})
        assert read(outcome) == Outcome("sign in first (-32042)", failed=True)
        assert shown == [("Sign in", "https://example.com/in")]

    world.run(use)


@ERAS
def test_a_question_can_be_declined(world, modern):
    async def elicit(server: str, message: str, schema: Any) -> tuple[str, dict[str, Any]]:
        return "decline", {"branch": "kept back"}

    answer = answered(world, "elicit", Wishes(elicit=elicit), modern=modern)
    assert answer["action"] == "decline"
    assert "content" not in answer


@ERAS
def test_roots_are_named(world, modern):
    async def roots(server: str) -> list[str]:
        return ["file:///ws/project"]

    answer = answered(world, "roots", Wishes(roots=roots), modern=modern)
    assert [root["uri"] for root in answer["roots"]] == ["file:///ws/project"]


@ERAS
@pytest.mark.parametrize("tool", ["sample", "elicit", "roots"])
def test_what_nobody_grants_is_refused(world, modern, tool):
    answer = answered(world, tool, Wishes(), modern=modern)
    said = answer if modern else answer["message"]
    assert "not supported" in said


async def refuse(*_: Any) -> Any:
    raise Denied("The gate said no.", "Because of a secret reason.")


async def fail(*_: Any) -> Any:
    raise ValueError("a secret detail")


@ERAS
@pytest.mark.parametrize("tool", ["sample", "elicit", "roots"])
@pytest.mark.parametrize(("how", "said"), [(refuse, "refused"), (fail, "failed")])
def test_a_refusal_is_told_without_its_reason(world, modern, tool, how, said):
    wishes = Wishes(sample=how, elicit=how, roots=how)
    answer = answered(world, tool, wishes, modern=modern)
    text = answer if modern else answer["message"]
    assert f"The host {said}" in text
    assert "secret" not in text
    assert "gate" not in text


def test_an_answer_that_cannot_be_meant_is_not_passed_on(world):
    async def elicit(server: str, message: str, schema: Any) -> tuple[str, dict[str, Any]]:
        return "perhaps", {}

    answer = answered(world, "elicit", Wishes(elicit=elicit), modern=False)
    assert "could not be read" in answer["message"]


async def half_a_minute() -> None:
    """Let half a minute go by at once: whatever the loop has to do until then is due."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    loop.time = lambda: clock() + 30
    for _ in range(100):
        await asyncio.sleep(0)
    loop.time = clock


@ERAS
def test_while_a_person_thinks_no_time_passes_for_the_call(world, modern):
    async def use(world: World) -> Outcome:
        async def elicit(server: str, message: str, schema: Any) -> tuple[str, dict[str, Any]]:
            await half_a_minute()
            return "accept", {"branch": "main"}

        connection = world.connection(rough(*["modern"] * modern), Wishes(elicit=elicit))
        await connection.start()
        return await connection.call("elicit", {}, timeout=20)

    assert "main" in world.run(use).text
