"""Whatever goes wrong with a model: the turn ends with an answer or an error, and work goes on."""

import asyncio

import pytest

from steersman.records.errors import Exit
from steersman.records.message import AssistantDelta, Error
from steersman.records.outcomes import ENDINGS
from tests.host.wires import Waits, talking
from tests.intelligence.drivers.talking import http, loopback, sse
from tests.world import call

READ = call("workspace_read_file", path="calc.py")
LONG = 60_000
MANY = 50
TOO_LONG = "This model's maximum context length is 8192 tokens. Please shorten the prompt."
POLICY = "Your request was rejected by our safety system: content_policy_violation."


def error(status, message="scripted error", times=1, **more):
    """A turn that answers in the end, after so many errors."""
    fault = {"status": status, "message": message, "times": times, **more}
    return {"text": "Here it is.", "error": fault}


async def troubled(line, stage, *turns):
    """A turn against a script; then a turn against one with nothing wrong in it."""
    stage.play(*turns)
    end = await line.say("go")
    errors = line.bodies("error")
    words = await line.last_words()
    stage.play({"text": "Going on."})
    after = await line.say("and now?")
    assert (after.ending, await line.last_words()) == ("done", "Going on.")
    return end, errors, words


def play(online, workspace, stage, wire, turns, waits=None, **model):
    """What came of it: how the turn ended, its errors, and the last words."""
    models = {f"{wire}:m-1": model} if model else {}
    return talking(
        online,
        workspace,
        lambda line: troubled(line, stage, *turns),
        waits,
        model=f"{wire}:m-1",
        models=models,
    )


RECOVERS = {
    "asked to slow down": ([error(429, retry_after=0)], "is limiting requests", [0.0]),
    "asked to wait": ([error(429, retry_after=7.5)], "is limiting requests", [7.5]),
    "a broken server": ([error(500, times=3)], "an internal problem", [2.0, 4.0, 8.0]),
    "overloaded": ([error(529, "Overloaded")], "is overloaded", [2.0]),
    "unavailable": ([error(503, times=2)], "is overloaded", [2.0, 4.0]),
    "cut in the text": ([{"text": "Here it is.", "drop": True}], "was cut", [2.0]),
    "cut in a call": (
        [{"tool_calls": [READ, READ], "drop": 3}, {"text": "Here it is."}],
        "was cut",
        [2.0],
    ),
    "cut while thinking": (
        [{"reasoning": "Hmm, hmm.", "text": "Here it is.", "drop": 3, "chunk": 2}],
        "was cut",
        [2.0],
    ),
}


@pytest.mark.parametrize("fault", RECOVERS)
def test_what_passes_is_tried_again(online, workspace, stage, wire, fault):
    turns, words, waited = RECOVERS[fault]
    waits = Waits()
    end, errors, said = play(online, workspace, stage, wire, turns, waits)

    assert (end.ending, said) == ("done", "Here it is.")
    assert all(words in one.what for one in errors)
    assert [one.retry_in for one in errors] == waited == waits


def test_a_stream_that_stalls_is_tried_again(online, workspace, stage, wire):
    turns = [{"text": "Here it is.", "stall_ms": LONG}]
    hasty = {"first_token": 30, "between_tokens": 0.2}
    end, errors, said = play(online, workspace, stage, wire, turns, timeouts=hasty)

    assert (end.ending, said) == ("done", "Here it is.")
    assert [one.why for one in errors] == ["Nothing came for 0.2 s."]


GIVES_UP = {
    "the wrong key": ([error(401, "Incorrect API key", MANY)], "does not accept the key", 1),
    "no such model": (
        [error(404, "The model `m-1` does not exist", MANY)],
        "has no model “m-1”",
        1,
    ),
    "a bad request": ([error(400, "what is this", MANY)], "does not understand the request", 1),
    "a refusal": ([error(400, POLICY, MANY)], "refused the request", 1),
    "too long, and nothing to leave out": ([error(400, TOO_LONG, MANY)], "too long for m-1", 1),
    "always too many requests": ([error(429, times=MANY)], "is limiting requests", 4),
    "always broken": ([error(500, times=MANY)], "an internal problem", 4),
    "always overloaded": ([error(529, times=MANY)], "is overloaded", 4),
    "always empty": ([{"text": ""}], "gave an empty answer", 4),
    "only thoughts": ([{"reasoning": "Hmm."}], "gave an empty answer", 4),
}


@pytest.mark.parametrize("fault", GIVES_UP)
def test_what_stays_ends_the_turn_with_an_error(online, workspace, stage, wire, fault):
    turns, words, tries = GIVES_UP[fault]
    end, errors, _ = play(online, workspace, stage, wire, turns)

    assert end.ending == "failed"
    assert ENDINGS[end.ending] is Exit.FAILED
    assert words in end.reason
    assert [one.retry_in is None for one in errors] == [False] * (tries - 1) + [True]
    assert errors[-1].try_this.endswith(".")


@pytest.mark.parametrize("status", [429, 503, 529])
def test_in_a_chat_an_overloaded_model_is_waited_for_two_minutes(online, workspace, stage, status):
    _, errors, _ = talking(
        online,
        workspace,
        lambda line: troubled(line, stage, error(status, times=MANY)),
        attended=True,
        model="anthropic:m-1",
    )
    *waited, last = [one.retry_in for one in errors]
    assert (waited, last) == ([2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0], None)
    assert errors[-1].try_this == "Send the message again, or choose another model with --model."


def test_a_model_that_never_begins(online, workspace, stage, wire):
    turns = [{"text": "Too late.", "delay_ms": LONG}]
    hasty = {"first_token": 0.05, "between_tokens": 30}

    async def scenario(line):
        stage.play(*turns)
        end = await line.say("go")
        return end, line.bodies("error")

    models = {f"{wire}:m-1": {"timeouts": hasty}}
    end, errors = talking(online, workspace, scenario, model=f"{wire}:m-1", models=models)
    assert end.ending == "failed"
    assert [one.what for one in errors] == ["m-1 did not start to answer within 0.05 s."] * 4


@pytest.mark.parametrize("arguments", ['{"path": "calc', "[1, 2]", "calc.py"])
def test_malformed_arguments_go_back_to_the_model(online, workspace, stage, wire, arguments):
    bad = {"name": "workspace_read_file", "arguments": arguments}
    turns = [{"tool_calls": [bad]}, {"tool_calls": [READ]}, {"text": "Here it is."}]

    async def scenario(line):
        end = await troubled(line, stage, *turns)
        return end, line.bodies("tool_result")

    (end, errors, said), results = talking(online, workspace, scenario, model=f"{wire}:m-1")
    assert (end.ending, errors, said) == ("done", [], "Here it is.")
    assert results[0].status in ("malformed", "error")
    assert results[1].status == "ok"


REFUSALS = {
    "openai": sse(
        {
            "type": "response.completed",
            "response": {
                "status": "completed",
                "output": [
                    {"type": "message", "content": [{"type": "refusal", "refusal": "I may not."}]}
                ],
            },
        }
    ),
    "openai-chat": sse(
        {"choices": [{"delta": {"refusal": "I may not."}}]},
        {"choices": [{"delta": {}, "finish_reason": "content_filter"}]},
        "[DONE]",
    ),
    "anthropic": sse(
        {"type": "message_start", "message": {"usage": {"input_tokens": 9}}},
        {"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {}},
        {"type": "message_stop"},
    ),
    "gemini": sse({"promptFeedback": {"blockReason": "SAFETY"}}),
}


def test_a_model_that_refuses_to_answer(online, workspace, stage, wire):
    async def scenario(line):
        end = await line.say("go")
        return end, line.bodies("error"), line.bodies("assistant")

    async def refused():
        async with loopback(http(REFUSALS[wire])) as server:
            base = server.url + ("/v1" if wire.startswith("openai") else "")
            providers = {wire: {"base_url": base}}
            return await asyncio.to_thread(
                talking, online, workspace, scenario, model=f"{wire}:m-1", providers=providers
            )

    end, errors, answers = asyncio.run(refused())
    if errors:
        assert (end.ending, errors[0].what) == ("failed", "The model refused to answer.")
    else:
        assert (end.ending, answers[-1].stop) == ("done", "refusal")


@pytest.mark.parametrize("wait", ["delay_ms", "stall_ms"])
def test_cancelling_closes_the_stream_at_once(online, workspace, stage, wire, wait):
    async def scenario(line):
        stage.play({"text": "0123456789", wait: LONG})
        with line.host.bus.subscribe(line.thread) as news:
            await line.handle.send("go")
            while not await asyncio.to_thread(stage.running_answers):
                await asyncio.sleep(0.01)
            while wait == "stall_ms":
                if isinstance((await news.next()).body, AssistantDelta):
                    break
        await line.handle.cancel()
        while await asyncio.to_thread(stage.running_answers):
            await asyncio.sleep(0.01)
        end = line.bodies("turn_end")[-1]
        partly = [one.text for one in line.bodies("assistant")]
        stage.play({"text": "Going on."})
        await line.say("and now?")
        return end, partly, await line.last_words()

    end, partly, words = talking(online, workspace, scenario, model=f"{wire}:m-1")
    assert (end.ending, words) == ("cancelled", "Going on.")
    assert partly == (["01234"] if wait == "stall_ms" else [])


def test_a_conversation_that_is_too_long_is_compacted_and_sent_again(
    online, workspace, stage, wire
):
    (workspace / "long.txt").write_text("".join(f"line {n}\n" for n in range(2_000)))
    look = call("workspace_read_file", path="long.txt")

    async def scenario(line):
        stage.play({"tool_calls": [look]}, {"text": "It is long."})
        for _ in range(3):
            await line.say("look at it")
        answers = ({"text": "Here it is."},)
        stage.play(error(400, TOO_LONG), then=answers)
        end = await line.say("once more")
        sizes = [len(body) for body in stage.bodies]
        return end, line.bodies("compaction"), line.bodies("error"), sizes, await line.last_words()

    end, compactions, errors, sizes, words = talking(
        online, workspace, scenario, model=f"{wire}:m-1"
    )
    assert (end.ending, words) == ("done", "Here it is.")
    assert [one.cause for one in compactions] == ["context_length"]
    assert compactions[0].shortened, "long results are shortened before anything else"
    assert compactions[0].tokens_after < compactions[0].tokens_before
    assert [(isinstance(one, Error), one.retry_in) for one in errors] == [(True, 0.0)]
    assert sizes[-1] < sizes[0]


def test_the_model_itself_tells_what_went(online, workspace, stage, wire):
    async def scenario(line):
        stage.play({"text": "It is as I said. " * 60})
        for _ in range(12):
            await line.say("tell me more")
        stage.play(error(400, TOO_LONG), then=({"text": "Told a lot.\n\nRules: none"},))
        end = await line.say("once more")
        requests = len(stage.bodies)
        return end, line.bodies("compaction"), requests, len(line.bodies("usage"))

    end, compactions, requests, usages = talking(online, workspace, scenario, model=f"{wire}:m-1")
    assert end.ending == "done"
    assert [(one.digest, one.by) for one in compactions] == [("Told a lot.", "model")]
    assert requests == 3, "refused, asked for a digest, and answered"
    assert usages == 12 + 2, "the digest is paid for as well"


def test_a_conversation_that_stays_too_long_is_sent_again_once(online, workspace, stage, wire):
    (workspace / "long.txt").write_text("".join(f"line {n}\n" for n in range(2_000)))
    look = call("workspace_read_file", path="long.txt")

    async def scenario(line):
        stage.play({"tool_calls": [look]}, {"text": "It is long."})
        for _ in range(3):
            await line.say("look at it")
        return await troubled(line, stage, error(400, TOO_LONG, MANY))

    end, errors, _ = talking(online, workspace, scenario, model=f"{wire}:m-1")
    assert end.ending == "failed"
    assert [one.retry_in for one in errors] == [0.0, None]
    assert "/compact" in errors[-1].try_this
