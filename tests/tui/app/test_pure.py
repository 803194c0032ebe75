"""Keys, layouts, facts and lists: what needs no screen."""

import asyncio
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.host import status_line
from steersman.host.writing import writable
from steersman.ports.tui.drawing import DARK, Look, draw
from steersman.ports.tui.drawing.work import call_about
from steersman.ports.tui.keys import DEFAULT, TABLE, Hint, Now, fitted, hints, remapped, shown
from steersman.ports.tui.layout import lay_out
from steersman.ports.tui.memory import PANES, Memory, Remembered
from steersman.ports.tui.panes.lines import cut, duration
from steersman.ports.tui.panes.strip import shown_items
from steersman.ports.tui.panes.tasklog import log_lines
from steersman.ports.tui.panes.welcome import TIPS, tip
from steersman.ports.tui.reader import colourless, plain_wanted
from steersman.ports.tui.screens.picker import matching
from steersman.ports.tui.steering import Twice
from steersman.records.message import TurnEnd
from steersman.records.settings import Settings
from steersman.views.blocks import Person, Remark, Todo, Work
from steersman.views.commands.stage import Row
from steersman.views.facts import Facts, bar, branch, money, rows, share
from steersman.views.story import Story
from steersman.views.story.reading import GO_ON, again
from steersman.views.text import amount, call_words
from tests.views.story.threads import Thread


def test_no_two_built_in_keys_are_the_same():
    keys = [one for key in TABLE for one in key.keys]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"help": "f12"}, []),
        ({"help": ["f12", "ctrl+h"]}, []),
        ({"log": "f2", "status": "f3"}, []),  # an exchange is no clash
        ({"log": "f2"}, ["f2 is wanted for log, but status has it; log keeps f3."]),
        ({"help": "x"}, ["“x” for help is needed for writing."]),
        ({"help": "ctrl+"}, ["“ctrl+” for help is not a key, such as ctrl+d or f5."]),
        ({"help": 3}, ["“help” must be a key or a list of keys."]),
        ({"nothing": "f12"}, ["there is no action “nothing”."]),
        ({"down": "x", "up": "x"}, ["x is wanted for up, but down has it; up keeps k."]),
    ],
)
def test_keys_of_a_person(wanted, told):
    keymap = remapped(wanted)
    assert len(keymap.problems) == len(told)
    for sentence, beginning in zip(keymap.problems, told, strict=True):
        assert sentence.removeprefix("keys.toml: ").startswith(beginning)
    taken = [one for key in keymap.keys for one in key.keys]
    assert len(taken) == len(set(taken))


def test_keys_of_the_conversation_follow():
    assert remapped({"down": "n"}).changed() == {"down": "n", "transcript.down": "n"}


@pytest.mark.parametrize(
    ("key", "told"),
    [("ctrl+p", "^P"), ("escape", "Esc"), ("f1", "F1"), ("D", "D"), ("?", "?"),
     ("shift+tab", "Shift+Tab"), ("pageup", "PgUp")],
)  # fmt: skip
def test_keys_as_people_read_them(key, told):
    assert shown(key) == told


@given(st.integers(0, 300), st.sampled_from(["nothing", "running", "working"]),
       st.sampled_from(["writing", "asking", "reading", "dialog", "elsewhere"]))  # fmt: skip
def test_the_footer_always_fits(width, doing, focus):
    kept = fitted(hints(DEFAULT, Now(doing, focus)), width)
    assert sum(len(h.key) + 1 + len(h.words) for h in kept) + 2 * max(0, len(kept) - 1) <= width


def test_the_footer_leaves_out_the_end():
    assert fitted([Hint("A", "one"), Hint("B", "two")], 8) == [Hint("A", "one")]


@given(st.integers(1, 400), st.integers(1, 120), st.sets(st.sampled_from(
       ["status", "log", "diff", "todo"])), st.sampled_from(["", "log", "diff"]))  # fmt: skip
def test_every_size_leaves_room_for_the_conversation(width, height, panes, over):
    layout = lay_out(width, height, panes, over)
    asked = lay_out(width, height, panes, over, asking=True)
    around = asked.title + asked.status + asked.footer + asked.queued + asked.composer
    todo = asked.todo + 1 if asked.todo else 0
    assert around + todo + asked.asking <= max(height, 4)
    assert asked.asking >= 2
    assert layout.wide == (width >= 100)
    assert layout.side_width <= width * 2 // 3
    assert not (layout.side and layout.over)
    lines = layout.title + layout.status + layout.footer + layout.todo
    assert lines + 1 < height or not lines


def test_what_was_shown_is_remembered_and_rubbish_is_not(tmp_path):
    memory = Memory(tmp_path)
    assert memory.now == Remembered()
    assert memory.toggle("status")
    assert not memory.toggle("log")
    memory.use_theme("light")
    assert Memory(tmp_path).now == Remembered("light", ("status", "todo"), chosen=True)
    (tmp_path / "terminal.json").write_bytes(b'{"panes": ["nothing", "log"], "theme": "x"}')
    assert Memory(tmp_path).now.panes == ("log",)
    (tmp_path / "terminal.json").write_bytes(b"\xff")
    assert Memory(tmp_path).now == Remembered()
    Memory(tmp_path / "not" / "there").use_theme("dark")  # no more than not remembered


def test_all_panes_are_shown_where_there_is_room_until_the_person_chooses(tmp_path):
    memory = Memory(tmp_path)
    assert (memory.shown(159), memory.shown(160)) == (("log", "todo"), PANES)
    memory.use_theme("light")
    assert Memory(tmp_path).shown(160) == PANES
    memory.toggle("diff", 160)
    assert Memory(tmp_path).shown(160) == Memory(tmp_path).shown(80) == ("status", "log", "todo")
    for pane in ("status", "diff", "diff"):
        memory.toggle(pane)
    assert Memory(tmp_path).shown(160) == ("log", "todo")
    layout = lay_out(200, 50, PANES)
    assert (layout.left, layout.side) == (True, ("status", "diff"))
    layout = lay_out(120, 50, PANES)
    assert (layout.left, layout.side) == (False, ("status", "log", "diff"))


@pytest.mark.parametrize(
    ("mode", "trust", "places"),
    [
        ("code", "sandboxed", ("/w", "/c/steersman/commands/w-")),
        ("debug", "sandboxed", ("/w", "/c/steersman/commands/w-")),
        ("code", "untrusted", ("everything",)),
        ("code", "restricted", ()),
        ("ask", "untrusted", ()),
        ("plan", "sandboxed", ("only its plan",)),
        ("spec", "sandboxed", ("docs/specs/",)),
    ],
)
def test_where_the_agent_may_write(mode, trust, places):
    settings = Settings(mode=mode, trust=trust)
    found = writable("/w", settings, {"XDG_CACHE_HOME": "/c"})
    assert len(found) == len(places)
    assert all(one.startswith(start) for one, start in zip(found, places, strict=True))


def test_the_branch_is_read_without_git(tmp_path):
    assert branch(str(tmp_path)) == ""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert branch(str(inner)) == "feature/x"
    (tmp_path / ".git" / "HEAD").write_text("0123456789abcdef\n")
    assert branch(str(inner)) == "012345678"
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../.git\n")
    assert branch(str(tree)) == "012345678"
    (tmp_path / ".git" / "HEAD").write_bytes(b"\xff\xfe")
    assert branch(str(inner)) == ""


FULL = Facts(model="anthropic:claude", used=50_000, window=200_000, cost=0.0312, branch="main",
             trust="sandboxed", approvals="on-request", servers=("one", "two"), code="ty",
             queued=2, thread="k3", title="t", folder="/w")  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "arguments", "row", "step"),
    [
        ("web_fetch", {"url": "https://a.example/x", "start": 5}, ("fetch", "https://a.example/x"),
         "web_fetch https://a.example/x"),
        ("web_search", {"query": "ripgrep flags"}, ("search the web for", "ripgrep flags"),
         "web_search ripgrep flags"),
    ],
)  # fmt: skip
def test_what_is_looked_for_on_the_web_is_named(tool, arguments, row, step):
    assert call_about(tool, arguments) == row
    assert call_words(tool, arguments) == step


def test_a_call_about_a_background_job_names_its_command():
    thread, story = Thread(), Story()
    thread.begin("serve")
    thread.did("workspace_run_command", {"background_process_id": "p5"}, command="npm run dev")
    thread.did("workspace_read_command_output", {"output": ""}, process_id="p5")
    thread.did("workspace_signal_process", {"state": "exited"}, process_id="p5", signal="TERM")
    thread.did("workspace_read_command_output", {"output": ""}, process_id="p6")
    for message in thread.messages:
        story.feed(message)
    calls = [one for one in story.blocks if isinstance(one, Work)]
    rows = [draw(one, 60, Look(DARK))[0].plain.strip(" ●✓") for one in calls[1:]]
    assert [row.partition(" · ")[0] for row in rows] == [
        "read output p5 (npm run dev)", "signal p5 (npm run dev)", "read output p6",
    ]  # fmt: skip


def test_the_status_in_a_line():
    assert " · ".join(bar(FULL, 200)) == (
        "code · anthropic:claude · 25% of 200k · $0.0312 · 2 queued · main · sandboxed · "
        "on-request · mcp 2 · code ty"
    )
    assert bar(Facts(), 40) == ["code", "no model"]
    assert bar(Facts(effort="high"), 40) == ["code", "no model", "effort high"]


@given(st.integers(0, 120))
def test_the_line_never_overflows(width):
    assert len(" · ".join(bar(FULL, width))) <= width


def test_the_status_as_a_table_leaves_out_what_is_not():
    assert dict(rows(FULL))["servers"] == "one, two"
    assert "servers" not in dict(rows(Facts()))
    assert dict(rows(Facts(effort="high")))["effort"] == "high"
    assert "effort" not in dict(rows(Facts()))


def test_numbers_in_few_letters():
    assert [amount(n) for n in (0, 999, 1_200, 45_000, 1_500_000)] == [
        "0", "999", "1.2k", "45k", "1.5M",
    ]  # fmt: skip
    assert [money(c) for c in (0, 0.0042, 0.1, 12.345)] == ["$0.00", "$0.0042", "$0.10", "$12.35"]
    assert share(Facts(used=500)) == "500 tokens"
    assert [duration(ms) for ms in (5, 1500, 61_000)] == ["5 ms", "1.5 s", "1 min 1 s"]


@given(st.text(max_size=40), st.integers(0, 20))
def test_cut_text_fits(text, width):
    from rich.cells import cell_len

    assert cell_len(cut(text, width)) <= width or not width


def test_pressed_twice_means_quickly():
    clock = [0.0]
    key = Twice(lambda: clock[0])
    assert not key.again()
    clock[0] = 0.9
    assert key.again()
    assert not key.again()  # the third is a first again
    clock[0] = 5.0
    assert not key.again()


def told(*endings, steps=1):
    story = Story()
    for turn, ending in enumerate(endings, 1):
        story.blocks.append(Person(f"p{turn}", turn, turn, "steersman", f"words {turn}"))
        body = TurnEnd(ending, steps=steps)
        story.blocks.append(Remark(f"e{turn}", turn, turn, "steersman", body, "done"))
    return story


def test_a_turn_that_goes_on_in_another_thread_was_not_cut_off():
    reason = "the rest is in the thread that this one continues"
    end = Remark("e", 1, 1, "steersman", TurnEnd("interrupted", 2, reason), "cancelled")
    assert [line.plain for line in draw(end, 80, Look(DARK))] == [f"– {reason} · 2 steps"]


def test_what_trying_again_says():
    assert again(Story()) == ""
    assert again(told("done")) == "words 1"
    assert again(told("done", "failed", steps=0)) == "words 2"
    assert again(told("cancelled", steps=3)) == GO_ON
    story = told("done")
    story.working = True
    assert again(story) == ""


ROWS = [Row("1", "Fix the bug", "yesterday"), Row("2", "bug report", "today"), Row("3", "x", "y")]


@pytest.mark.parametrize(
    ("query", "found"),
    [("", "123"), ("bug", "21"), ("BUG fix", "1"), ("today", "2"), ("zzz", ""), ("3", "3")],
)
def test_searching_a_list(query, found):
    assert "".join(row.key for row in matching(ROWS, query)) == found


def test_a_long_todo_list_shows_what_is_being_done():
    items = [Todo(str(n), "done" if n < 7 else "doing" if n == 7 else "pending") for n in range(12)]
    shown_now, left_out = shown_items(items, 5)
    assert [item.text for item in shown_now] == ["6", "7", "8", "9"]
    assert left_out == 8
    assert shown_items(items[:3], 5) == (items[:3], 0)


@pytest.mark.parametrize(
    ("environ", "plain", "bare"),
    [
        ({"TERM": "xterm-256color"}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({}, True, False),
        ({"TERM": "xterm", "STEERSMAN_SCREEN_READER": "1"}, True, False),
        ({"TERM": "xterm", "STEERSMAN_SCREEN_READER": "0"}, False, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False, True),
        ({"TERM": "vt100"}, False, True),
        ({"TERM": "xterm-mono"}, False, True),
    ],
)
def test_what_a_terminal_can(environ, plain, bare):
    assert plain_wanted(environ) == plain
    assert colourless(environ) == bare


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("cat", '{"state":"ready"}'),
        ("printf 'one\\ntwo\\n'", "one"),
        ("echo said; exit 1", ""),
        ("sleep 600 | cat", ""),
        ("true", ""),
    ],
    ids=["gets JSON", "the first line", "fails", "too slow", "nothing"],
)
def test_the_first_line_of_a_status_command(command, line, tmp_path, monkeypatch):
    monkeypatch.setattr(status_line, "SECONDS", 1.0 if "sleep" in command else 30.0)
    asked = status_line.first_line(command, {"state": "ready"}, str(tmp_path), dict(os.environ))
    assert asyncio.run(asked) == line


def test_the_log_names_a_turn_once():
    """Words that were said into a turn do not begin it; queued words that began one do."""
    said = [
        ("first", 1, ""),
        ("more", 1, "delivered"),
        ("next", 2, "delivered"),
        ("later", 2, "queued"),
    ]
    blocks = []
    for text, turn, receipt in said:
        person = Person(text, len(blocks) + 1, turn, "steersman", text)
        person.receipt = receipt
        blocks.append(person)
    lines = [one.plain.rstrip() for one in log_lines(blocks, 30)]
    assert lines == ["turn 1 first", "  › more", "turn 2 next", "  › later" + " " * 15 + "queued"]


@pytest.mark.parametrize("width", [24, 36, 60, 76, 200])
def test_no_sentence_of_the_welcome_is_cut(width):
    for name, told in TIPS:
        lines = [one.plain for one in tip(name, told, width)]
        assert all(len(one) <= width for one in lines)
        assert " ".join(" ".join(lines).split()) == f"{name} {told}"
