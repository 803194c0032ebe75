"""Compaction is a view: the log keeps everything, and what a model is shown stays in its window."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256

import pytest

from steersman.intelligence.compaction import Compactor
from steersman.intelligence.context import KINDS, Context
from steersman.intelligence.earlier import Found, search
from steersman.intelligence.shortening import OURS
from steersman.intelligence.tokens import Counter
from steersman.records.dialogue import AssistantItem, Item, ResultItem, ToolSpec, UserItem
from steersman.records.errors import DriverProblem
from steersman.records.message import Assistant, Compaction, ToolCall, ToolResult, User
from steersman.store.log import Lane, ThreadLog
from tests.store.logs import a_place, proven, stored

ROOT = "steersman"
READ, RUN = "workspace_read_file", "workspace_run_command"
GOAL = "Rebuild the parser so that nested lists work.\nKeep the public names."
RULE = "Never touch vendor/keep.c: it is generated.\n\tAnd run `make lint` after each change."
SYSTEM = "You are Steersman, a coding agent."
TOOLS = (ToolSpec(READ, "Read lines of a file.", {"type": "object", "properties": {}}),)


class Talk:
    """A thread with a context that watches it, and a model whose window is small."""

    def __init__(self, log: ThreadLog, window: int = 32_000, summarise=None) -> None:
        self.log = log
        self.context = Context(ROOT)
        self.compactor = Compactor(window, Counter(), summarise)
        self._root = Lane(log, ROOT)
        self.lane = self._root.at("intelligence")
        self._calls = 0

    async def say(self, text: str, via: str = "prompt") -> None:
        await self._root.at("coordination").append(User(text, via))

    async def answer(self, text: str) -> None:
        await self.lane.append(Assistant(text))

    async def use(self, tool: str, output: object, **arguments: object) -> None:
        """The model calls a tool and gets a result."""
        self._calls += 1
        corr, place = f"call_{self._calls}", self._root.at("operations", tool)
        await self.log.append(
            self.lane.draft(Assistant(f"Step {self._calls}.", calls=(corr,))),
            place.draft(ToolCall(tool, arguments), corr),
            place.draft(ToolResult(tool, "ok", output), corr),
        )

    async def fit(self, cause="window") -> bool:
        return await self.compactor.fit(
            self.context, self.lane, system=SYSTEM, tools=TOOLS, cause=cause
        )

    async def undo(self) -> bool:
        return await self.compactor.undo(self.context, self.lane)

    def request(self) -> int:
        """The tokens of the request, counted from nothing."""
        counter = self.compactor.counter
        shown = sum(map(counter.of_item, self.context.view))
        return counter.tokens(counter.of_frame(SYSTEM, TOOLS) + shown)

    def resumed(self) -> Context:
        """The context another process gets from the log."""
        again = Context(ROOT)
        again.recall(self.log.store.recall(self.log.thread, KINDS, 10**9))
        return again


@contextmanager
def talk(window: int = 32_000, summarise=None) -> Iterator[Talk]:
    with a_place() as place:
        log = place.new_log()
        made = Talk(log, window, summarise)
        with log.watched_by(made.context.observe):
            yield made


def played(story: Callable[[Talk], Awaitable[None]], window: int = 32_000, summarise=None) -> None:
    with talk(window, summarise) as made:
        asyncio.run(story(made))
        assert proven(made.log) == []


def text(items: list[Item]) -> str:
    """Everything a model reads of items."""
    return repr(items)


def prefix(items: list[Item]) -> bytes:
    """A hash of all that is sent before an answer."""
    return sha256(repr((SYSTEM, TOOLS, items)).encode()).digest()


def lines(count: int, name: str = "f") -> str:
    return "\n".join(f"{n}\tdef {name}_{n}(a, b): return a + b * {n}" for n in range(1, count + 1))


def shown(items: list[Item], words: str) -> bool:
    """Whether words are shown, to the letter."""
    return any(words in item.text for item in items if isinstance(item, UserItem))


def test_two_thousand_turns_stay_in_a_window_of_32k_and_keep_the_goal_and_a_rule_of_turn_three():
    async def story(it: Talk) -> None:
        compactions, kinds = 0, set()
        for turn in range(1, 2001):
            said = {1: GOAL, 3: RULE}.get(turn, f"Now look at module {turn}: what is it for?")
            await it.say(said)
            size = 400 if turn % 40 == 0 else 12
            await it.use(READ, {"content": lines(size, f"m{turn}")}, path=f"m{turn}.py")
            if await it.fit():
                compactions += 1
                kinds.add(it.context.cut.body.until > 0)
                assert it.request() <= 0.8 * 32_000
            assert it.compactor.tokens(it.context, SYSTEM, TOOLS) <= 32_000
            if turn % 100 == 0:
                assert it.request() <= 32_000
                assert it.context.view[0] == UserItem(GOAL, steer=False)
                assert shown(it.context.view, RULE)
            await it.answer(f"Module {turn} adds numbers.")
        assert 20 <= compactions <= 200  # not at every turn
        assert kinds == {True} or kinds == {True, False}
        assert it.context.view[0] == UserItem(GOAL, steer=False)
        assert shown(it.context.view, RULE)
        assert len(it.context.items) == 4 * 2000  # nothing is deleted
        assert text(it.resumed().view) == text(it.context.view)

    played(story)


def test_only_a_compaction_changes_what_was_sent_before():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        before, count = prefix([]), 0
        for turn in range(120):
            await it.use(READ, {"content": lines(30)}, path=f"m{turn}.py")
            compacted = await it.fit()
            view = it.context.view
            if not compacted:
                assert prefix(view[:count]) == before
            assert prefix(it.resumed().view) == prefix(view)
            before, count = prefix(view), len(view)

    played(story, window=12_000)


@pytest.mark.parametrize("cause", ["user", "context_length", "window"])
def test_undo_shows_the_very_bytes_of_before_also_after_a_restart(cause):
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        for turn in range(60):
            await it.use(READ, {"content": lines(40)}, path=f"m{turn}.py")
            await it.answer("So.")
            await it.say(f"Next: {turn}")
        whole = text(it.context.view)
        assert await it.fit(cause)
        once = text(it.context.view)
        assert len(once) < len(whole)
        await it.use(READ, {"content": lines(200)}, path="new.py")
        grown = text(it.context.view)
        assert await it.fit("user")
        assert await it.undo()
        assert text(it.context.view) == text(it.resumed().view) == grown
        assert await it.undo()
        assert it.context.view is it.context.items
        assert text(it.context.view)[: len(whole) - 1] == whole[:-1]
        assert text(it.resumed().view) == text(it.context.view)
        assert not await it.undo()

    played(story)


def test_large_old_results_are_shortened_first_and_the_handle_names_the_call():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        await it.use(READ, {"content": lines(900, "first")}, path="a.py")
        for turn in range(10):
            await it.use(READ, {"content": lines(60)}, path=f"m{turn}.py")
            await it.fit()
        body = it.context.cut.body
        assert (body.until, body.digest, len(body.shortened)) == (0, "", 1)
        assert len(it.context.view) == len(it.context.items)  # every turn is still there
        result = it.context.view[2]
        assert isinstance(result, ResultItem)
        assert "def first_1(" in result.text
        assert "def first_900(" in result.text
        assert '{"call": "call_1"}' in result.text
        assert len(result.text) < 1_300

    played(story, window=16_000)


def test_what_must_not_be_lost_is_kept_word_for_word():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        await it.say(RULE)
        await it.say("Stop, use the other file", via="steer")
        await it.use("workspace_update_todo", "ok", items=[{"text": "parse", "done": True}])
        await it.use("propose_plan", "ok", plan="1. Read\n2. Write")
        await it.use("workspace_write_file", {}, path="src/new.py", content="a\nb\n")
        edit = {"search": "a", "replace": "return nested(b)"}
        await it.use("workspace_edit_files", {}, files=[{"path": "src/old.py", "edits": [edit]}])
        good = {"wall_ms": 9, "output": "3 passed", "exit_code": 0, "changes": ["wrote cov.xml"]}
        await it.use(RUN, good, command="pytest -q tests")
        bad = {"wall_ms": 9, "output": "line one\nE  boom", "exit_code": 2}
        await it.use(RUN, bad, command="make lint")
        for turn in range(40):
            await it.use(READ, {"content": lines(50)}, path=f"m{turn}.py")
        await it.fit("user")
        head = it.context.view[1].text
        for words in [
            RULE,
            "Stop, use the other file",
            "- parse · true",
            "1. Read\n2. Write",
            "src/new.py: written whole, 2 lines",
            "src/old.py: 1 edit, the last one put in: return nested(b)",
            "- pytest -q tests",
            "make lint",
            "boom",
        ]:
            assert words in head, words
        assert "- make lint" not in head.split("# Commands that worked")[1].split("# ")[0]

    played(story)


def test_a_model_is_asked_for_the_digest_and_which_words_are_rules():
    asked: list[str] = []

    async def summarise(notes: str, lane: Lane) -> str:
        asked.append(notes)
        return "## State\nHalf of the parser is rebuilt.\n\nRules: 2"

    async def story(it: Talk) -> None:
        await it.say(GOAL)
        await it.say("Tabs, four wide")
        for turn in range(400):
            await it.say(f"Look at module {turn} of the great many modules there are in here")
            await it.answer("I did." * 20)
            await it.fit()
        body = it.context.cut.body
        assert body.by == "model"
        assert "Half of the parser is rebuilt." in it.context.view[1].text
        assert "Rules:" not in it.context.view[1].text
        assert ("Tabs, four wide", "rule") in [(w.text, w.why) for w in body.kept.words]
        assert shown(it.context.view, "Tabs, four wide")
        assert "Half of the parser" in asked[-1]  # the digest before is condensed with the rest
        assert all(it.compactor.counter.count(one) < 8_000 for one in asked)

    played(story, window=8_000, summarise=summarise)


@pytest.mark.parametrize("failure", [DriverProblem("no network"), TimeoutError(), None])
def test_without_a_model_an_outline_stands_in(failure):
    async def summarise(notes: str, lane: Lane) -> str:
        if failure is None:
            return "  "
        raise failure

    async def story(it: Talk) -> None:
        await it.say(GOAL)
        for turn in range(60):
            await it.use(READ, {"content": lines(50)}, path=f"m{turn}.py")
        assert await it.fit()
        assert it.context.cut.body.by == "rules"
        assert "read_file m" in it.context.cut.body.digest
        assert it.request() <= it.compactor.limit

    played(story, window=16_000, summarise=summarise)


def test_one_result_larger_than_the_window_is_shortened_even_when_it_is_the_newest():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        await it.use(READ, {"content": lines(20_000)}, path="huge.py")
        assert await it.fit()
        assert it.request() <= it.compactor.limit
        assert isinstance(it.context.view[-1], ResultItem)
        assert '{"call": "call_1"}' in it.context.view[-1].text

    played(story, window=8_000)


def test_a_prompt_larger_than_the_window_is_shortened_with_a_handle_to_its_message():
    async def story(it: Talk) -> None:
        await it.say("Look at this log:\n" + lines(20_000))
        assert await it.fit()
        assert it.request() <= it.compactor.limit
        assert '{"message": 1}' in it.context.view[-1].text
        assert text(it.resumed().view) == text(it.context.view)

    played(story, window=8_000)


def test_a_provider_that_says_too_long_teaches_us_how_long_things_are():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        for turn in range(30):
            await it.use(READ, {"content": lines(30)}, path=f"m{turn}.py")
        assert not await it.fit()
        before = it.request()
        assert await it.fit("context_length")
        assert it.request() < 0.8 * before
        assert it.compactor.counter.ratio > 1
        assert it.context.cut.body.cause == "context_length"

    played(story)


def test_reports_of_usage_correct_when_it_is_time_to_compact():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        for turn in range(30):
            await it.use(READ, {"content": lines(30)}, path=f"m{turn}.py")
        assert not await it.fit()
        it.compactor.learn(it.context, 2 * it.request())
        assert await it.fit()

    played(story)


def test_there_is_nothing_to_gain_from_a_short_conversation():
    async def story(it: Talk) -> None:
        assert not await it.fit("user")
        await it.say("Hello")
        await it.answer("Hello!")
        assert not await it.fit("user")
        assert [m.kind for m in stored(it.log)] == ["user", "assistant"]

    played(story)


def test_a_thread_is_compacted_after_a_restart_as_if_there_had_been_none():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        for turn in range(60):
            await it.use(READ, {"content": lines(50)}, path=f"m{turn}.py")
        again = it.resumed()
        other = Compactor(32_000, Counter())
        with it.log.watched_by(again.observe):
            assert await other.fit(again, it.lane, system=SYSTEM, tools=TOOLS)
        assert text(again.view) == text(it.context.view)
        boundary = again.cut.body.until
        assert 1 < boundary < it.log.head - 1
        assert isinstance(again.view[2], AssistantItem)

    played(story)


def test_an_agent_below_has_compactions_of_its_own():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        await Lane(it.log, f"{ROOT}/operations/helper/intelligence").append(
            Compaction(until=1, tail=0, digest="of the helper")
        )
        assert it.context.view is it.context.items

    played(story)


def test_what_went_can_be_searched():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        await it.use(READ, {"content": "the Quick brown fox\n" * 3}, path="fox.txt")
        await it.answer("A fox, quick and brown.")
        found = search(stored(it.log), "QUICK fox")
        assert [(one.kind, one.message) for one in found] == [("assistant", 5), ("tool_result", 4)]
        assert found[0] == Found(5, 0, "assistant", 7, "A fox, quick and brown.")
        assert search(stored(it.log), "no such words") == []
        assert search(stored(it.log), " ") == []

    played(story)


def test_a_remark_of_the_host_is_neither_goal_nor_rule():
    async def story(it: Talk) -> None:
        it.context.remark(f"{OURS} never mind]")
        await it.say(GOAL)
        for turn in range(60):
            await it.use(READ, {"content": lines(50)}, path=f"m{turn}.py")
        assert await it.fit()
        assert it.context.cut.body.kept.goal == GOAL
        assert it.context.cut.body.kept.words == ()

    played(story)


def test_where_even_the_least_does_not_fit_it_is_tried_once_and_not_at_every_request():
    asked = []

    async def summarise(notes: str, lane: Lane) -> str:
        asked.append(notes)
        return "So."

    async def story(it: Talk) -> None:
        await it.say(GOAL)
        for turn in range(30):
            await it.use(READ, {"content": lines(20)}, path=f"m{turn}.py")
        assert await it.fit()
        for _ in range(3):
            await it.answer("Hm.")
            assert not await it.fit()
        assert len(asked) == 1

    played(story, window=300, summarise=summarise)


def test_a_window_nobody_knows_is_learnt_from_a_refusal():
    async def story(it: Talk) -> None:
        it.compactor.window = None
        await it.say(GOAL)
        for turn in range(60):
            await it.use(READ, {"content": lines(40)}, path=f"m{turn}.py")
            assert not await it.fit()
        before = it.request()
        assert await it.fit("context_length")
        assert it.compactor.window == before
        assert it.request() < 0.7 * before

    played(story)


def test_an_undo_after_a_restart_names_the_compaction_it_takes_back():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        for turn in range(60):
            await it.use(READ, {"content": lines(40)}, path=f"m{turn}.py")
        assert await it.fit("user")
        made = it.log.head
        again = it.resumed()
        with it.log.watched_by(again.observe):
            assert await Compactor(32_000, Counter()).undo(again, it.lane)
        assert stored(it.log)[-1].body == Compaction(until=made, cause="user", undone=True)
        assert text(again.view) == text(it.context.view) == text(it.context.items)

    played(story)


def test_the_running_turn_is_kept_whole_while_it_is_not_too_long():
    async def story(it: Talk) -> None:
        await it.say(GOAL)
        for turn in range(30):
            await it.use(READ, {"content": lines(30)}, path=f"m{turn}.py")
        await it.say("And now the lexer.")
        for turn in range(8):
            await it.use(READ, {"content": lines(25)}, path=f"n{turn}.py")
        assert await it.fit("user")
        assert it.context.view[2] == UserItem("And now the lexer.", steer=False)
        assert len(it.context.view) == 3 + 2 * 8

    played(story)
