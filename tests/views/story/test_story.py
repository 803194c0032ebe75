"""Messages become blocks: the same ones, whether a thread is read or watched."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.ports.tui.drawing import DARK, Look, draw
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Answer,
    Assistant,
    AssistantDelta,
    Audit,
    Body,
    Checkpoint,
    Compaction,
    ConfirmRequest,
    ConfirmResponse,
    DiffReady,
    Error,
    GuardBlock,
    Message,
    Progress,
    Question,
    ReasoningDelta,
    RequestReceipt,
    SessionEnd,
    SessionStart,
    SettingsChanged,
    Steer,
    ToolCall,
    ToolProgress,
    ToolResult,
    TurnEnd,
    TurnStart,
    Unknown,
    UsageReport,
    User,
)
from steersman.views.blocks import (
    Asked,
    Block,
    Person,
    Remark,
    Todo,
    Words,
    Work,
)
from steersman.views.story import Story
from steersman.views.text import words as in_words
from tests.views.story.threads import Thread, everything


def told(messages: list[Message]) -> Story:
    """A story of messages."""
    story = Story()
    for message in messages:
        story.feed(message)
    return story


def seen(block: Block) -> tuple[object, ...]:
    """All that a block shows; not its key and its version, which a screen uses."""
    names = [name for kind in type(block).__mro__ for name in getattr(kind, "__slots__", ())]
    values = {name: getattr(block, name) for name in names if name not in ("key", "version")}
    if isinstance(block, Words):
        values["pieces"] = block.text
    return (type(block).__name__, *sorted(values.items(), key=lambda pair: pair[0]))


def shown(story: Story) -> list[tuple[object, ...]]:
    return [seen(block) for block in story.blocks]


def kinds(story: Story) -> list[str]:
    return [type(block).__name__ for block in story.blocks]


def test_a_turn_from_prompt_to_end() -> None:
    thread = Thread()
    thread.begin("fix it")
    thread.says("Done.", "Easy.")
    thread.did("workspace_read_file", {"lines_read": 1}, path="a.py")
    thread.end()
    story = told(thread.messages)
    assert kinds(story) == ["Person", "Words", "Words", "Work", "Remark"]
    person, thought, words, work, end = story.blocks
    assert isinstance(person, Person)
    assert person.text == "fix it"
    assert person.receipt == ""
    assert isinstance(thought, Words)
    assert thought.thought
    assert thought.text == "Easy."
    assert isinstance(words, Words)
    assert words.text == "Done."
    assert words.state == "done"
    assert isinstance(work, Work)
    assert work.state == "done"
    assert work.call.tool == "workspace_read_file"
    assert isinstance(end, Remark)
    assert end.seconds > 0
    assert (story.working, story.step, story.steps) == (False, "", 1)


def test_words_stream_in_and_give_way_to_the_whole_answer() -> None:
    thread = Thread()
    thread.begin("hello")
    story = told(thread.messages)
    (words,) = story.feed(message(thread, AssistantDelta("Hel")))
    story.feed(message(thread, AssistantDelta("lo!")))
    assert isinstance(words, Words)
    assert (words.text, words.state) == ("Hello!", "running")
    assert story.step == "answering"
    (whole,) = story.feed(message(thread, Assistant("Hello, you.")))
    assert whole is words
    assert words.text == "Hello, you."
    assert words.state == "done"
    assert story.settled == len(story.blocks)


def test_words_of_an_answer_that_broke_off_are_gone_when_it_is_asked_for_again() -> None:
    thread = Thread()
    thread.begin("hello")
    thread.write(ReasoningDelta("Hm"))
    thread.write(AssistantDelta("Half an ans"))
    thread.write(Error("The connection broke.", retry_in=1.0))
    story = told(thread.messages)
    assert kinds(story) == ["Person", "Remark"]
    assert story.step == "trying again: The connection broke."
    story.feed(message(thread, AssistantDelta("The")))
    assert story.step == "answering"


def test_an_error_that_was_overcome_is_no_error_any_more() -> None:
    thread = Thread()
    thread.begin("hello")
    thread.write(Error("The model is overloaded.", retry_in=2.0))
    thread.write(Error("The model is overloaded.", retry_in=4.0))
    thread.write(Assistant("Hello."))
    _, remark, _ = told(thread.messages).blocks
    assert isinstance(remark, Remark)
    assert (remark.state, remark.times) == ("done", 2)


@pytest.mark.parametrize("last", [Error("It does not accept the key."), TurnEnd("cancelled")])
def test_nothing_is_tried_again_after_the_last_failure(last: Body) -> None:
    thread = Thread()
    thread.begin("hello")
    thread.write(Error("The model is overloaded.", retry_in=2.0))
    thread.write(last)
    _, first, _ = told(thread.messages).blocks
    assert first.state == "done"


def test_the_end_of_a_turn_knows_the_advice_of_the_error_that_ended_it() -> None:
    thread = Thread()
    thread.begin("hello")
    thread.write(Error("It does not accept the key.", try_this="Log in with `steer login`."))
    thread.write(TurnEnd("failed"))
    *_, end = told(thread.messages).blocks
    assert isinstance(end, Remark)
    assert end.advice == "Log in with `steer login`."
    drawn = draw(end, 80, Look(DARK))
    assert drawn[-1].plain.strip() == "After /login, /retry sends your message again."


def test_a_command_that_the_guard_blocked_is_one_block_that_names_the_rule() -> None:
    thread = Thread()
    corr = thread.calls("workspace_run_command", command="rm -rf ~")
    tool = "workspace_run_command"
    thread.write(GuardBlock(tool, "rm -rf ~", "fs.home", "it deletes your home"), corr=corr)
    thread.write(ToolResult(tool, "denied", message="Denied: it deletes your home."), corr=corr)
    [work] = told(thread.messages).blocks
    assert isinstance(work, Work)
    assert (work.state, work.rule) == ("denied", "fs.home")


def test_thoughts_stand_before_words_even_when_they_come_later() -> None:
    thread = Thread()
    thread.write(AssistantDelta("Well, "))
    thread.write(ReasoningDelta("what?"))
    story = told(thread.messages)
    assert [block.thought for block in story.blocks if isinstance(block, Words)] == [True, False]


@pytest.mark.parametrize(
    ("receipts", "receipt", "queued"),
    [
        ([Steer("waiting", "steer", "also this")], "pending", 1),
        ([Steer("waiting", "steer", "also this"), Steer("queued", "steer")], "queued", 1),
        ([Steer("queued", "queue", "also this")], "queued", 1),
        ([Steer("waiting", "steer", "also this"), Steer("withdrawn", "steer")], "withdrawn", 0),
        ([Steer("waiting", "steer", "also this"), Steer("delivered", "steer")], "delivered", 0),
        ([Steer("waiting", "steer", "also this"), Steer("delivered", "steer"),
          User("also this", via="steer")], "delivered", 0),
        ([User("also this", via="queue")], "delivered", 0),
    ],
)  # fmt: skip
def test_receipts(receipts: list[Body], receipt: str, queued: int) -> None:
    thread = Thread()
    for body in receipts:
        thread.write(body, "steersman/coordination", "in_1")
    story = told(thread.messages)
    (person,) = story.blocks
    assert isinstance(person, Person)
    assert (person.text, person.receipt, person.corr) == ("also this", receipt, "in_1")
    assert len(story.queued()) == queued


def test_what_was_not_delivered_stays_at_the_end_until_it_is() -> None:
    thread = Thread()
    thread.begin("go")
    thread.write(Steer("waiting", "steer", "stop that"), "steersman/coordination", "in_1")
    thread.says("Working.")
    story = told(thread.messages)
    assert kinds(story) == ["Person", "Words", "Person"]
    thread.write(Steer("delivered", "steer"), "steersman/coordination", "in_1")
    thread.write(User("stop that", via="steer"), "steersman/coordination", "in_1")
    thread.says("Stopped.")
    assert kinds(told(thread.messages)) == ["Person", "Words", "Person", "Words"]


def test_a_call_waits_for_an_answer_and_goes_on() -> None:
    thread = Thread()
    thread.begin("go")
    corr = thread.calls("workspace_run_command", command="make")
    path = "steersman/operations/workspace_run_command"
    thread.write(ConfirmRequest(corr, "workspace_run_command", (), "it asks"), path, "req_1")
    story = told(thread.messages)
    work, request = story.blocks[1:]
    assert story.waiting() == [request]
    assert story.step == "waiting for your answer"
    assert (work.state, request.state) == ("waiting", "waiting")
    changed = story.feed(message(thread, ConfirmResponse("allow"), path, "req_1"))
    assert set(changed) == {work, request}
    assert (work.state, request.state, story.waiting()) == ("running", "done", [])
    assert story.step == "run_command make"
    story.feed(message(thread, ToolProgress("x" * 20_000), path, corr))
    assert isinstance(work, Work)
    assert len(work.progress) == 8_000
    story.feed(message(thread, ToolResult("workspace_run_command", "ok", {}), path, corr))
    assert (work.state, work.progress, story.running()) == ("done", "", [])


def test_a_question_and_its_answer() -> None:
    thread = Thread()
    thread.write(Question("Go on?", ("yes", "no"), "no"), corr="q")
    thread.write(Answer("yes"), corr="q")
    (asked,) = told(thread.messages).blocks
    assert isinstance(asked, Asked)
    assert asked.state == "done"
    assert asked.answer == Answer("yes")


def test_agents_work_in_lanes_of_their_own() -> None:
    story = told(everything())
    (agent,) = story.agents.values()
    inner = [block for block in story.blocks if block.lane == agent.inner]
    assert [type(block).__name__ for block in inner] == ["Words", "Work", "Words"]
    assert (agent.state, agent.calls, agent.lane) == ("done", 1, "steersman")
    (call,) = [block for block in story.blocks if isinstance(block, Work) and block.by_agent]
    assert call.call.tool == "researcher"
    assert call.lane == "steersman"


def test_totals_todo_and_what_is_left_at_the_end() -> None:
    story = told(everything())
    assert (story.usage.requests, story.usage.input, round(story.usage.cost, 2)) == (4, 4000, 0.04)
    assert story.usage.context == 1050
    assert story.usage.model == "m"
    assert story.todo == (
        Todo("fix add", "done"),
        Todo("test it", "doing"),
        Todo("tell the person"),
    )
    assert [person.text for person in story.queued()] == ["and then push"]
    assert story.session is not None
    assert story.session.mode == "code"


def test_a_thread_that_was_cut_off_shows_nothing_as_running() -> None:
    thread = Thread()
    thread.begin("go")
    thread.write(AssistantDelta("I am abou"))
    thread.calls("workspace_run_command", command="sleep 100")
    thread.write(ConfirmRequest("call_1", "workspace_run_command", (), "?"), corr="r")
    thread.write(AgentSpawn("a", "steersman/operations/a", "x"), "steersman/operations/a", "call_1")
    thread.write(TurnEnd("interrupted"))
    thread.write(SessionStart("0.1.0", "/w", "m", "code", "sandboxed", "ask"), "steersman")
    story = told(thread.messages)
    assert not story.working
    assert not story.waiting()
    assert not story.running()
    assert [block.state for block in story.blocks] == ["done", *["cancelled"] * 4]
    thread.write(ToolResult("workspace_run_command", "interrupted"), corr="call_1")
    late = told(thread.messages).blocks[1]
    assert isinstance(late, Work)
    assert late.result is not None
    assert late.state == "cancelled"


def test_what_waits_goes_on_waiting_when_another_process_takes_over() -> None:
    thread = Thread()
    thread.begin("go")
    thread.calls("workspace_run_command", command="make")
    thread.write(ConfirmRequest("call_1", "workspace_run_command", (), "?"), corr="r")
    thread.write(AssistantDelta("And I am abou"))
    thread.write(SessionStart("0.1.0", "/w", "m", "code", "sandboxed", "ask"), "steersman")
    story = told(thread.messages)
    assert story.working
    assert [block.corr for block in story.waiting()] == ["r"]
    assert [block.corr for block in story.running()] == ["call_1"]
    thread.write(ConfirmResponse("allow"), corr="r")
    thread.write(ToolResult("workspace_run_command", "ok", {}), corr="call_1")
    thread.end()
    story = told(thread.messages)
    assert not story.waiting()
    assert not story.running()


def test_settings_and_refused_requests_are_remarks() -> None:
    thread = Thread()
    thread.write(SettingsChanged(mode="plan", model="other"))
    thread.write(RequestReceipt("steer", "ann", "taken"), corr="q1")
    thread.write(RequestReceipt("answer", "bob", "refused", "Nothing was asked."), corr="q2")
    thread.write(RequestReceipt("answer", "eve", "too_late", "Ann was first."), corr="q3")
    story = told(thread.messages)
    assert story.usage.model == "other"
    assert [in_words(block.body) for block in story.blocks if isinstance(block, Remark)] == [
        "mode plan · model other",
        "answer from bob: refused Nothing was asked.",
    ]


def test_results_and_diffs_without_their_calls_are_told_all_the_same() -> None:
    thread = Thread()
    thread.write(ToolResult("workspace_status", "ok", {}), corr="call_9")
    thread.write(DiffReady("a", "", 1, 0), corr="call_8")
    thread.write(ConfirmResponse("allow"), corr="req_7")
    assert kinds(told(thread.messages)) == ["Work", "Remark"]


def test_a_call_with_a_name_that_was_used_before_is_another_call() -> None:
    thread = Thread()
    for _ in range(2):
        thread.write(ToolCall("workspace_status"), corr="same")
        thread.write(ToolResult("workspace_status", "ok", {}), corr="same")
    assert [block.state for block in told(thread.messages).blocks] == ["done", "done"]


def test_what_this_version_does_not_know_is_passed_over() -> None:
    thread = Thread()
    thread.write(Unknown("hologram", {"x": 1}))
    thread.write(Progress("indexing"))
    assert told(thread.messages).blocks == []


def message(thread: Thread, body: Body, path: str = "steersman/intelligence",
            corr: str | None = None) -> Message:  # fmt: skip
    thread.write(body, path, corr)
    return thread.messages[-1]


# Properties: whatever happens, in whatever order.

LANES = ("steersman", "steersman/operations/helper")
corrs = st.sampled_from(["a", "b", "c"])
words = st.text("xy \n", min_size=1, max_size=5)
bodies: st.SearchStrategy[Any] = st.one_of(
    st.builds(AssistantDelta, words),
    st.builds(ReasoningDelta, words),
    st.builds(Assistant, words, words, stop=st.sampled_from(["end", "cancelled"])),
    st.builds(User, words, st.sampled_from(["prompt", "steer", "queue"])),
    st.builds(
        Steer,
        st.sampled_from(["waiting", "queued", "delivered", "withdrawn"]),
        st.just("steer"),
        words,
    ),
    st.builds(ToolCall, st.just("workspace_status")),
    st.builds(ToolProgress, words),
    st.builds(ToolResult, st.just("workspace_status"), st.sampled_from(["ok", "denied", "error"])),
    st.builds(ConfirmRequest, corrs, st.just("t"), st.just(()), words),
    st.builds(ConfirmResponse, st.sampled_from(["allow", "deny"])),
    st.builds(Question, words),
    st.builds(Answer, words),
    st.builds(DiffReady, words, words, st.just(1), st.just(1)),
    st.builds(AgentSpawn, st.just("helper"), st.just(LANES[1]), words),
    st.builds(AgentDone, st.just("helper"), st.just(LANES[1]), st.just("done")),
    st.builds(Error, words, retry_in=st.sampled_from([None, 1.0])),
    st.builds(UsageReport, st.just("m"), st.integers(0, 9)),
    st.builds(Checkpoint, st.sampled_from(["effect", "undo"])),
    st.builds(Compaction, tokens_after=st.integers(0, 9)),
    st.builds(TurnStart),
    st.builds(TurnEnd, st.sampled_from(["done", "failed"])),
    st.builds(SessionStart, *[st.just("")] * 6),
    st.builds(SessionEnd, st.just("done")),
    st.builds(Progress, words),
)
happenings = st.lists(st.tuples(bodies, st.sampled_from(LANES), corrs), max_size=25)


def written(happened: list[tuple[Body, str, str]]) -> list[Message]:
    thread = Thread()
    for body, lane, corr in happened:
        path = f"{lane}/operations/t" if isinstance(body, ToolCall) else f"{lane}/intelligence"
        thread.write(body, path, corr)
    thread.end()
    return thread.messages


@settings(max_examples=60, deadline=None)
@given(happenings)
def test_read_or_watched_it_is_the_same_story(happened: list[tuple[Body, str, str]]) -> None:
    messages = written(happened)
    watched = told(messages)
    read = told([one for one in messages if one.seq])
    assert shown(watched) == shown(read)
    assert (watched.usage, watched.todo, watched.steps) == (read.usage, read.todo, read.steps)
    assert len(watched.queued()) == len(read.queued())


@settings(max_examples=60, deadline=None)
@given(happenings, st.integers(1, 5))
def test_what_comes_twice_counts_once(happened: list[tuple[Body, str, str]], back: int) -> None:
    stored = [one for one in written(happened) if one.seq]
    again = [one for at in range(len(stored)) for one in stored[max(at - back, 0) : at + 1]]
    assert shown(told(again)) == shown(told(stored))


@settings(max_examples=60, deadline=None)
@given(happenings, st.sets(st.integers(1, 40)))
def test_gaps_break_nothing(happened: list[tuple[Body, str, str]], lost: set[int]) -> None:
    *messages, end = written(happened)
    story = told([*(one for at, one in enumerate(messages) if at not in lost), end])
    assert not story.running()
    assert not story.waiting()


@settings(max_examples=60, deadline=None)
@given(happenings)
def test_what_is_settled_stays_and_changes_are_told(happened: list[tuple[Body, str, str]]) -> None:
    story = Story()
    for one in written(happened):
        settled = story.blocks[: story.settled]
        before = {id(block): (block, block.version) for block in story.blocks}
        changed = {id(block) for block in story.feed(one)}
        assert story.blocks[: len(settled)] == settled
        for block in story.blocks:
            known = before.get(id(block))
            assert known is None or known[1] == block.version or id(block) in changed
        keys = [block.key for block in story.blocks]
        assert len(set(keys)) == len(keys)


def test_a_long_thread_keeps_nothing_open() -> None:
    thread = Thread()
    for number in range(300):
        thread.begin(str(number))
        thread.says("ok")
        thread.did("workspace_status", {})
        thread.end()
    story = told(thread.messages)
    assert len(story.blocks) == story.settled == 1200
    assert not (story.live_words)
    assert not (story.open_inputs)
    assert not (story.delivered)


def test_a_warning_is_shown_once_however_often_the_thread_is_opened() -> None:
    thread = Thread()
    for what in ("The sandbox is weaker here.", "Other.", "The sandbox is weaker here."):
        thread.write(Audit("sandbox", what), "steersman")
    shown = [block.body for block in told(thread.messages).blocks if isinstance(block, Remark)]
    assert shown == [Audit("sandbox", "The sandbox is weaker here."), Audit("sandbox", "Other.")]
