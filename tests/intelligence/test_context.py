"""What the model sees is a view of the log: the same messages always give the same items."""

import asyncio
import json
import os
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.coordination.recovery import closing
from steersman.host import Host
from steersman.intelligence.context import KINDS, Context, plain, result_text
from steersman.records.dialogue import AssistantItem, Call, Item, ResultItem, UserItem
from steersman.records.errors import StorageProblem, UsageProblem
from steersman.records.message import (
    Assistant,
    Body,
    Compaction,
    HookRun,
    Meanwhile,
    Message,
    ToolCall,
    ToolResult,
    User,
    encode_body,
)
from steersman.records.settings import Settings
from steersman.store.log import Draft
from tests.coordination.stories import ROOT, cut_sessions, sessions, told
from tests.world import call

OPERATIONS = f"{ROOT}/operations/read"


def seen(messages: list[Message], path: str = ROOT) -> list[Item]:
    """The items that messages give."""
    context = Context(path)
    context.observe(messages)
    return context.items


def rows(messages: list[Message]) -> list[tuple[str, str, str | None, bytes]]:
    """Messages as the store recalls them."""
    return [(m.kind, m.path, m.corr, encode_body(m.body)) for m in messages]


def said(*parts: tuple[Body, str, str | None]) -> list[Message]:
    """Messages from bodies, lanes and names."""
    return told([Draft(body, path, 1, corr) for body, path, corr in parts])


TALK = said(
    (User("Mend it"), f"{ROOT}/coordination", None),
    (Assistant("Looking.", "hm", ("a", "b")), f"{ROOT}/intelligence", None),
    (ToolCall("read", {"path": "x"}), OPERATIONS, "a"),
    (ToolCall("read", malformed="{"), OPERATIONS, "b"),
    (ToolResult("read", "malformed", message="no JSON"), OPERATIONS, "b"),
    (ToolResult("read", "ok", {"content": "1\tx"}), OPERATIONS, "a"),
    (User("and test", "steer"), f"{ROOT}/coordination", "in_1"),
    (Assistant("Done."), f"{ROOT}/intelligence", None),
)


def test_a_talk_becomes_items_with_results_in_the_order_of_their_calls():
    assert seen(TALK) == [
        UserItem("Mend it", steer=False),
        AssistantItem(
            "Looking.", "hm", (Call("a", "read", {"path": "x"}), Call("b", "read", malformed="{"))
        ),
        ResultItem("a", "content: 1\tx"),
        ResultItem("b", "no JSON", failed=True),
        UserItem("and test", steer=True),
        AssistantItem("Done.", "", ()),
    ]


@given(sessions(), st.lists(st.integers(0, 200), max_size=6), st.booleans())
def test_in_whatever_portions_and_from_wherever_the_items_are_the_same(story, cuts, recalled):
    messages = told(story)
    edges = sorted({0, len(messages), *(at % (len(messages) + 1) for at in cuts)})
    context = Context(ROOT)
    grown: list[Item] = []
    for start, end in pairwise(edges):
        part = messages[start:end]
        if recalled:
            context.recall(rows(part))
        else:
            context.observe(part)
        assert context.items[: len(grown)] == grown  # it only ever grows at its end
        grown = list(context.items)
    assert context.items == seen(messages)


def well_formed(items: list[Item]) -> bool:
    """Whether every answer that acts is followed by the results of its calls, and nothing else."""
    owed: list[str] = []
    for item in items:
        if owed:
            if not isinstance(item, ResultItem) or item.call != owed.pop(0):
                return False
        elif isinstance(item, ResultItem):
            return False
        elif isinstance(item, AssistantItem):
            owed = [made.id for made in item.calls]
    return not owed


@given(cut_sessions())
def test_a_cut_off_session_gives_a_whole_conversation_once_it_is_closed(story):
    messages = told([*story, *closing(told(story)), Draft(User("go on"), f"{ROOT}/coordination")])
    assert well_formed(seen(messages))


@given(sessions())
def test_an_agent_sees_its_own_lane_and_none_below_or_beside_it(story):
    lanes = {ROOT} | {draft.body.lane for draft in story if draft.body.kind == "agent_spawn"}
    messages = told(story)
    for lane in lanes:
        own = [m for m in messages if m.kind in KINDS and belongs(m.path, lane)]
        assert seen(messages, lane) == seen(own, lane)
    whole = seen(messages)
    spoken = [m for m in messages if m.kind == "assistant" and m.path == f"{ROOT}/intelligence"]
    assert len([item for item in whole if isinstance(item, AssistantItem)]) == len(spoken)
    assert well_formed(whole)


def belongs(path: str, lane: str) -> bool:
    """Whether a message is one of the agent in a lane, not of an agent below it."""
    rest = path.removeprefix(f"{lane}/").split("/") if path != lane else []
    own = path == lane or path.startswith(f"{lane}/")
    return own and (len(rest) < 2 or (len(rest) == 2 and rest[0] == "operations"))


@pytest.mark.parametrize(
    "path",
    [
        "steersman2/coordination",
        "steersman:2/coordination",
        "steer/coordination",
        "other/steersman/coordination",
        "steersman/operations/helper/coordination",
        "steersman/operations/helper/operations/read",
        "",
    ],
)
def test_words_in_another_lane_are_not_heard(path):
    assert seen(said((User("not for you"), path, None))) == []


def test_a_second_helper_is_not_taken_for_the_first():
    first, second = f"{ROOT}/operations/helper", f"{ROOT}/operations/helper:2"
    words = said(
        (User("one"), f"{first}/coordination", None),
        (User("two"), f"{second}/coordination", None),
    )
    assert [item.text for item in seen(words, first)] == ["one"]
    assert [item.text for item in seen(words, second)] == ["two"]


def test_calls_and_results_nobody_knows_of_are_passed_over():
    odd = said(
        (ToolCall("read"), OPERATIONS, "unasked"),
        (ToolResult("read", "ok", "x"), OPERATIONS, "unasked"),
        (Assistant("", "", ("a",)), f"{ROOT}/intelligence", None),
        (ToolCall("read"), OPERATIONS, "b"),
        (ToolResult("read", "ok", "x"), OPERATIONS, "b"),
        (ToolCall("read"), OPERATIONS, "a"),
        (ToolResult("read", "ok", "first"), OPERATIONS, "a"),
        (ToolResult("read", "ok", "second"), OPERATIONS, "a"),
    )
    assert seen(odd) == [AssistantItem("", "", (Call("a", "read"),)), ResultItem("a", "first")]


def test_an_answer_whose_calls_were_never_announced_does_not_enter():
    torn = said(
        (Assistant("Looking.", "", ("a", "b")), f"{ROOT}/intelligence", None),
        (ToolCall("read"), OPERATIONS, "a"),
        (User("go on"), f"{ROOT}/coordination", None),
    )
    assert seen(torn) == [UserItem("go on", steer=False)]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_stored_message_that_cannot_be_read_is_told_in_a_sentence(kind):
    others = said(
        (Compaction(until=1, tail=2), f"{ROOT}/intelligence", None),
        (Meanwhile("They undid it."), f"{ROOT}/coordination", None),
        (HookRun("Stop", "true", "here", context="Go on."), f"{ROOT}/operations/hook", None),
    )
    messages = rows([*TALK[:6], *others])
    spoilt = [
        (*row[:3], b"{nonsense") if row[0] == kind and (row[2] in (None, "a")) else row
        for row in messages
    ]

    def look() -> str:
        context = Context(ROOT)
        context.recall(spoilt)
        return repr(context.items)

    with pytest.raises(StorageProblem):
        look()


# Results as text

RESULTS = [
    (ToolResult("t", "ok"), "(nothing)"),
    (ToolResult("t", "ok", output=""), "(nothing)"),
    (ToolResult("t", "ok", output="text"), "text"),
    (ToolResult("t", "denied", message="Denied: so."), "Denied: so."),
    (ToolResult("t", "error", {"exit_code": 1}, "It broke."), "It broke.\nexit_code: 1"),
    (ToolResult("t", "ok", "text", note="again?"), "text\nNote: again?"),
    (ToolResult("t", "ok", note="again?"), "Note: again?"),
]


@pytest.mark.parametrize(("result", "text"), RESULTS)
def test_a_result_is_its_message_its_output_and_the_hosts_remark(result, text):
    assert result_text(result) == text


PLAIN: list[tuple[Any, str]] = [
    ("as it is\n", "as it is\n"),
    (7, "7"),
    (None, "null"),
    ([1, "zwei"], '[1,"zwei"]'),
    ({}, ""),
    ({"a": 1, "b": "text", "c": ["x"]}, 'a: 1\nb: text\nc: ["x"]'),
    ({"out": 'two\n"lines"\n', "code": 0}, 'code: 0\nout:\ntwo\n"lines"\n'),
    ({"x": None, "y": True}, "x: null\ny: true"),
]


@pytest.mark.parametrize(("value", "text"), PLAIN)
def test_output_is_short_fields_first_then_long_text_unescaped(value, text):
    assert plain(value) == text


# The running program sees what the log says


TURNS = [
    {
        "text": "Looking.",
        "chunk": 2,
        "tool_calls": [
            call("workspace_read_file", path="a.txt"),
            call("workspace_list_files"),
            call("workspace_run_command", command="echo one"),
            call("workspace_write_file", path="b.txt", content="b\n"),
            call("workspace_read_file", path="b.txt"),
        ],
    },
    {"text": "And more.", "tool_calls": [call("workspace_run_command", command="echo two")]},
    {"text": "Done."},
]


async def both_views(host: Host, thread: str) -> tuple[list[Item], list[Item]]:
    """The items of the running program, and those the log gives."""
    return list(host.session(thread)._context.items), seen(list(host.messages(thread)))


def stopped_at(place: int, *, how: str) -> int:
    """Stop a turn at a message, then compare; the answer is how many messages there were."""

    async def work(folder: Path) -> int:
        (folder / "ws").mkdir()
        (folder / "ws" / "a.txt").write_text("a\n")
        (folder / "s.json").write_text(json.dumps({"turns": TURNS}))
        approvals = "never" if how != "needs_answer" else "on-request"
        settings = Settings(model=f"scripted:{folder}/s.json", approvals=approvals)
        async with Host.at(folder / "home", os.environ) as host:
            thread = await host.start(str(folder / "ws"), "t", settings)
            news = thread.events()
            await thread.send("go")
            if how == "steer":
                await thread.steer("also")
            async for message in news:
                if message.seq == place and how != "needs_answer":
                    with suppress(UsageProblem):  # when it had ended
                        await thread.cancel()
                if message.kind == "turn_end":
                    break
            await thread.wait()
            live, logged = await both_views(host, thread.id)
            assert live == logged
            assert well_formed(live)
            assert live[0] == UserItem("go", steer=False)
            await thread.send("once more")
            await thread.wait()
            live, logged = await both_views(host, thread.id)
            assert live == logged
            assert well_formed(live)
            heard = [item.text for item in live if isinstance(item, UserItem)]
            assert heard.count("also") == (how == "steer")
            await thread.close()
            return host.find(thread.id).head

    with TemporaryDirectory() as folder:
        return asyncio.run(asyncio.wait_for(work(Path(folder)), 60))


@pytest.mark.parametrize("how", ["cancel", "steer"])
@pytest.mark.parametrize("place", range(3, 34, 2))
def test_a_turn_cancelled_anywhere_leaves_the_program_with_what_the_log_says(place, how):
    assert stopped_at(place, how=how) > 10


def test_a_turn_that_needs_an_answer_leaves_the_program_with_what_the_log_says():
    assert stopped_at(0, how="needs_answer") > 10


def test_the_model_gets_what_a_command_printed_without_its_colours():
    printed = "\x1b[31mred\x1b[0m \x1b]8;;http://x.example\x07link\x1b]8;;\x07\n\x1b[2Kdone"
    result = ToolResult("workspace_run_command", "ok", {"output": printed, "exit_code": 0})
    assert result_text(result) == "exit_code: 0\noutput:\nred link\ndone"


def test_the_model_gets_a_file_as_it_is():
    result = ToolResult("workspace_read_file", "ok", {"content": "1\t\x1b[31mred"})
    assert result_text(result) == "content: 1\t\x1b[31mred"
