"""Every answer a person can give, by its key."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import click
import pytest
from textual.widgets import Input, TextArea

from steersman.ports.cli.views import request_words
from steersman.ports.tui.diff_pane import DiffScreen
from steersman.records.action import Action, ChangeMany, Execute, McpCall, Network, Read
from steersman.records.hunks import FileHunks
from steersman.records.message import Answer, ConfirmResponse, Lasting
from steersman.views.blocks import Asked, Request, State, Work
from steersman.views.requests import lasting_keys, offered
from tests.tui.approvals.kit import (
    NEW,
    OLD,
    Stand,
    asked,
    command_request,
    edit_request,
    many_files,
    many_request,
    mcp_request,
    network_request,
    question,
    working,
    written,
)
from tests.tui.snapshots import screen_text

Things = tuple[Sequence[Request | Asked], Sequence[Work]]


def press(things: Any, *keys: str, size: tuple[int, int] = (80, 24), **options: Any) -> Stand:
    """Show what waits, let the keys go there, and press some of them."""
    return asyncio.run(_press(things, keys, size, options))


async def _press(
    things: Any, keys: Sequence[str], size: tuple[int, int], options: dict[str, Any]
) -> Stand:
    blocks, works = queue(things)
    app = Stand(**options)
    async with app.run_test(size=size) as pilot:
        app.approvals.show(blocks, works, grab=True)
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        app.picture = screen_text(app)
        app.typed = app.query_one("#composer", Input).value
    return app


Said = list[ConfirmResponse | Answer]


def answers(things: Any, *presses: Sequence[str]) -> list[Said]:
    """What is answered by each row of keys, every time to the same that waits."""

    async def one_after_the_other() -> list[Said]:
        said: list[Said] = []
        app = Stand()
        async with app.run_test(size=(80, 24)) as pilot:
            for keys in presses:
                blocks, works = queue(things)
                app.approvals.show([], [])
                app.approvals.show(blocks, works, grab=True)
                await pilot.pause()
                for key in keys:
                    await pilot.press(key)
                    await pilot.pause()
                said.append([answer for _, answer in app.answers])
                app.answers.clear()
                while len(app.screen_stack) > 1:
                    app.pop_screen()
        return said

    return asyncio.run(one_after_the_other())


def queue(things: Any) -> Things:
    """A request with its call, one without, or several."""
    several = things if isinstance(things, list) else [things]
    pairs = [one if isinstance(one, tuple) else (one, None) for one in several]
    return [block for block, _ in pairs], [work for _, work in pairs if work]


def picture(app: Stand) -> str:
    return str(app.picture)


ANSWERS = [
    ("u", ConfirmResponse("allow", scope="turn", lasting="edits")),
    ("t", ConfirmResponse("allow", scope="thread", lasting="same")),
    ("w", ConfirmResponse("allow", scope="thread", lasting="edits")),
    ("W", ConfirmResponse("allow", scope="here", lasting="edits")),
]


def test_a_plain_yes_or_no_is_one_key() -> None:
    found = answers(edit_request(), ["y"], ["n"])
    assert found == [[ConfirmResponse("allow")], [ConfirmResponse("deny")]]


def test_a_yes_that_lasts_is_confirmed_with_enter() -> None:
    alone = answers(edit_request(), *([key] for key, _ in ANSWERS))
    assert alone == [[]] * len(ANSWERS)
    confirmed = answers(edit_request(), *([key, "enter"] for key, _ in ANSWERS))
    assert confirmed == [[answer] for _, answer in ANSWERS]
    cancelled = [["w", other] for other in ("n", "y", "N", "Y", "u", "escape", "down", "up")]
    assert answers(edit_request(), *cancelled) == [[]] * len(cancelled)
    deny = [ConfirmResponse("deny")]
    assert answers(edit_request(), ["w", "n", "enter"]) == [deny]  # what was pressed last is marked
    assert answers(edit_request(), ["w", "n", "n"]) == [deny]
    told = " ".join(picture(press(edit_request(), "W")).split())
    assert "Enter confirms “W”: approve changes of any file in the workspace, but not" in told
    assert "protected ones, always here. Any other key cancels that." in told


def test_who_has_words_half_written_confirms_every_yes() -> None:
    app = press(edit_request(), "y", drafting=lambda: True)
    assert app.answers == []
    assert "Enter confirms “y”: approve." in picture(app)
    app = press(edit_request(), "y", "enter", drafting=lambda: True)
    assert app.answer == ConfirmResponse("allow")


def test_who_hesitates_in_a_sentence_approves_nothing_and_loses_no_letter() -> None:
    for words in ("also", "use", "the", "what", "We"):
        app = press(edit_request(), *words)
        assert (app.typed, app.answers) == (words, [])


def test_a_key_pressed_after_a_pause_only_cancels() -> None:
    """Who was asked to confirm “u” and presses “e” edits with the next; other letters are words."""

    async def story(*keys: str) -> Stand:
        now = [0.0]
        app = Stand(clock=lambda: now[0])
        async with app.run_test(size=(80, 24)) as pilot:
            blocks, works = queue(edit_request())
            app.approvals.show(blocks, works, grab=True)
            await pilot.press("u")
            now[0] += 2
            for key in keys:
                await pilot.press(key)
                now[0] += 2
            await pilot.pause()
            app.picture = screen_text(app)
            app.typed = app.query_one("#composer", Input).value
        return app

    app = asyncio.run(story("e"))
    assert (app.typed, app.answers) == ("", [])
    assert "allow it like this" not in picture(app)
    app = asyncio.run(story("e", "e"))
    assert "allow it like this" in picture(app)
    assert asyncio.run(story("s")).typed == "s"


def test_always_here_is_offered_for_a_command_with_what_it_covers() -> None:
    app = press(command_request(), "A", "enter")
    assert app.answer == ConfirmResponse("allow", scope="here", lasting="same")
    assert "3. Yes, and `npm install …`; `rm …`, always here (A)" in picture(
        press(command_request())
    )
    assert "t/A would allow `npm install …`; `rm …`" in picture(press(command_request(), "?"))
    shown = picture(press(command_request()))
    assert "$ npm install left-pad && sudo rm -rf build" in shown
    assert "sudo → rm -rf build (deletes /w/build)" in shown


def test_what_is_not_offered_is_no_answer() -> None:
    app = press(network_request(), "t", "A", "w", "W", "e", "D", "9", "o", "Y", "N")
    assert app.answers == []
    assert "connect to `registry.example`" in picture(app)
    for line in ("› 1. Yes, this once (y)", "2. No (n)", "3. No, and not again in this thread (d)"):
        assert line in picture(app)
    app = press(network_request(), "?")
    assert "the approval cannot be remembered: it only holds for this host" in picture(app)


def test_a_host_is_allowed_once_or_for_longer() -> None:
    lasting = (Lasting("same", ("connections to registry.example",), ("thread", "here")),)
    request = network_request(lasting=lasting)
    assert (
        "2. Yes, and connections to registry.example, in this thread (t)" in press(request).picture
    )
    assert answers(request, ["y"], ["1"], ["2"], ["3"], ["t"], ["t", "enter"]) == [
        [ConfirmResponse("allow")], [ConfirmResponse("allow")],
        [ConfirmResponse("allow", scope="thread")], [ConfirmResponse("allow", scope="here")],
        [], [ConfirmResponse("allow", scope="thread")],
    ]  # fmt: skip
    told = picture(press(request, "?"))
    assert "y allows the connections of this call to registry.example:443" in told


def test_a_host_is_denied_once_or_for_the_thread() -> None:
    once, thread, edit = answers(network_request(), ["n"], ["d"]) + answers(edit_request(), ["d"])
    assert (once, thread) == ([ConfirmResponse("deny")], [ConfirmResponse("deny", scope="thread")])
    assert edit == []


def test_a_card_has_a_list_of_answers_and_says_nothing_twice() -> None:
    fact = {"words": ["git", "push", "origin", "fix"], "network": ["origin"], "remote": "pushes"}
    push = asked(
        "workspace_run_command",
        Execute("git push origin fix", "/w"),
        reason="a change elsewhere (pushes to origin) needs your approval",
        facts=(fact,),
        lasting=(Lasting("same", ("`git push origin fix`",), ("turn", "thread", "here")),),
    )
    shown = press((push, working(push, command="git push origin fix")), folder=lambda: "/w").picture
    assert [line.strip() for line in shown.split("━\n")[1].rstrip().split("\n")] == [
        "? The agent wants to push branch `fix` to `origin`",
        "$ git push origin fix",
        "› 1. Yes, this once (y)",
        "2. Yes, and `git push origin fix`, in this turn (u)",
        "3. Yes, and `git push origin fix`, in this thread (t)",
        "4. Yes, and `git push origin fix`, always here (A)",
        "5. No (n)",
        "6. No, and say what to do instead (g)",
        "↑↓ enter choose  e edit  ? more",
    ]


LOST = ChangeMany("/w", 0, 0, 1, lost=1, lost_bytes=3, examples=("notes.txt",), origin="command")
EDITED = ChangeMany("/w", 0, 0, 3, lost=2, lost_bytes=4, precious=2, tracked=2,
                    examples=("d/1", "d/2"), origin="command")  # fmt: skip
GROUP = ("a.example.org:443", "b.example.org:443")
PAGE = "https://docs.example.org/a?b=c"
ISSUE = "create_issue of the MCP server tracker, which may change things, needs your approval"
REGISTRIES = "letting package managers reach the registries that this project names (a, b)"
SAID_ONCE: list[tuple[Action, str, list[str]]] = [
    (Network("a.example.org", 443), "a connection to a.example.org:443 needs your approval",
     ["? The agent wants to connect to `a.example.org`"]),
    (Network("a.example.org", 8080), "a connection to a.example.org:8080 needs your approval",
     ["? The agent wants to connect to `a.example.org` on port 8080"]),
    (Network("a.example.org", 443, GROUP), f"{REGISTRIES} needs your approval",
     ["? The agent wants to let package managers reach their registries",
      "→ a.example.org:443", "→ b.example.org:443"]),
    (Network("docs.example.org", 443, url=PAGE),
     "reading a page of docs.example.org:443 needs your approval",
     [f"? The agent wants to read `{PAGE}`"]),
    (Read("/etc/hosts"), "/etc/hosts is outside the workspace",
     ["? The agent wants to read `/etc/hosts`", "why: /etc/hosts is outside the workspace"]),
    (McpCall("tracker", "list", {}), ISSUE,
     ["? The agent wants to run tool `list` of MCP server `tracker`",
      "it may change something; it gets", "{}"]),
    (LOST, "deleting 1 untracked file (notes.txt) needs your approval",
     ["? The agent wants to delete 1 untracked file: `notes.txt`",
      "! 3 bytes not in version control"]),
    (EDITED, "deleting 2 files with uncommitted changes (d/1, d/2) needs your approval; approving "
     "also keeps the other changes of this command: 3",
     ["? The agent wants to delete 2 files with uncommitted changes: `d/1`, `d/2`",
      "0 created, 0 changed, 3 deleted below /w",
      "! 2 of them (4 bytes) not committed", "d/1", "d/2",
      "why: approving also keeps the other changes of this command: 3"]),
]  # fmt: skip


@pytest.mark.parametrize(("action", "reason", "card"), SAID_ONCE)
def test_title_reason_and_details_say_each_thing_once(
    action: Action, reason: str, card: list[str]
) -> None:
    shown = press(asked("workspace_run_command", action, reason=reason)).picture
    above, _, _ = shown.split("━\n")[1].partition(" › 1. Yes")
    assert [line.strip() for line in above.rstrip().split("\n")] == card


@pytest.mark.parametrize("keys", [[], ["?"]])
def test_a_host_is_asked_about_with_the_command_that_wants_to_reach_it(keys: list[str]) -> None:
    shown = press(network_request(command="make fetch\nmake all"), *keys).picture
    assert [line.strip() for line in shown.split("\n") if "make" in line] == [
        "$ make fetch",
        "> make all",
    ]


def test_what_does_not_fit_into_the_title_is_below_it() -> None:
    url = "https://docs.example.org/" + "deep/" * 60 + "end"
    shown = press(asked("web_fetch", Network("docs.example.org", 443, url=url))).picture
    assert "deep/end" in "".join(shown.split())


LISTED = [
    (["enter"], ConfirmResponse("allow")),
    (["1"], ConfirmResponse("allow")),
    (["2"], ConfirmResponse("allow", scope="turn", lasting="edits")),
    (["down", "enter"], ConfirmResponse("allow", scope="turn", lasting="edits")),
    (["j", "j", "k", "enter"], ConfirmResponse("allow", scope="turn", lasting="edits")),
    (["5", "enter"], ConfirmResponse("allow", scope="here", lasting="edits")),
    (["6"], ConfirmResponse("deny")),
    (["up", *["down"] * 5, "enter"], ConfirmResponse("deny")),
    ([*["down"] * 20, "enter", *"use b", "enter"], ConfirmResponse("deny", "use b")),
    (["7", *"use b", "enter"], ConfirmResponse("deny", "use b")),
]


def test_the_answers_are_a_list_with_numbers_arrows_and_enter() -> None:
    found = answers(edit_request(), *(keys for keys, _ in LISTED))
    assert found == [[answer] for _, answer in LISTED]


def test_what_is_marked_at_first_holds_once() -> None:
    for things in (edit_request(), command_request(), network_request(), mcp_request(), both()):
        assert "› 1. Yes, this once (y)" in press(things).picture


def test_an_answer_that_does_not_fit_is_told_whole_before_it_is_given() -> None:
    many = ("`npm install …`", "`make …`", "`python -m build …`", "`twine upload …`", "`rm …`")
    lasting = (Lasting("same", many, ("thread",)),)
    things, small = command_request(lasting=lasting), (40, 16)
    app = press(things, "2", size=small)
    assert app.answers == []
    told = "approve `npm install …`; `make …`; `python -m build …`; `twine upload …`; `rm …`"
    assert f"Enter confirms “t”: {told}, in this thread." in " ".join(app.picture.split())
    assert "› 2. Yes, and `npm install …`" in app.picture
    app = press(things, "down", size=small)
    assert f"“t”: {told}, in this thread." in " ".join(app.picture.split())
    yes = [ConfirmResponse("allow", scope="thread")]
    for keys in (["2", "enter"], ["down", "enter"]):
        assert [said for _, said in press(things, *keys, size=small).answers] == yes
    assert answers(things, ["2"], ["down", "enter"]) == [yes, yes]  # there is room for all of it


LONG = ("`npm install --save-dev …`", "connections to registry.npmjs.org:443")


@pytest.mark.parametrize("size", [(80, 24), (40, 24), (30, 24), (30, 20)])
def test_what_a_lasting_answer_covers_is_read_whole_in_a_narrow_window(size) -> None:
    for things in (command_request(lasting=(Lasting("same", LONG, ("thread",)),)), edit_request()):
        request = queue(things)[0][0].request
        for at, row in enumerate(offered(request)):
            shown = press(things, *["down"] * at, size=size).picture
            told = f"› {at + 1}. {row.words} ({row.key})", f"“{row.key}”: {row.covers}."
            assert any(one in " ".join(shown.split()) for one in told), shown
            if row.lasts:
                shown = press(things, row.key, size=size).picture
                assert f"Enter confirms “{row.key}”: {row.covers}." in " ".join(shown.split()), (
                    shown
                )


def test_a_wrapped_answer_is_clicked_on_any_of_its_lines() -> None:
    async def story() -> list[str]:
        app = Stand()
        async with app.run_test(size=(30, 40)) as pilot:
            things = command_request(lasting=(Lasting("same", LONG[:1], ("thread",)),))
            app.approvals.show(*queue(things), grab=True)
            await pilot.pause()
            assert "  2. Yes, and `npm install\n      --save-dev …`" in screen_text(app)
            await pilot.click("#ask-answers", offset=(6, 2))
            await pilot.pause()
            return [answer.scope for _, answer in app.answers]

    assert asyncio.run(story()) == ["thread"]


def test_an_enter_or_a_number_for_something_else_answers_nothing() -> None:
    """Not in the first moment, not behind a word, and not where a message is half written."""

    async def story() -> None:
        now = [100.0]
        request, work = edit_request()
        app = Stand(patience=0.8, clock=lambda: now[0], hold=1000)
        async with app.run_test() as pilot:
            app.approvals.show([request], [work], grab=True)
            await pilot.press("enter")
            assert app.answers == []
            assert "That was too quick" in screen_text(app)
            now[0] += 2
            await pilot.press(*"2 more", "enter")
            await pilot.pause()
            assert app.answers == []
            assert app.query_one("#composer", Input).value == "2 more"
            app.approvals.take_keys()
            await pilot.pause()
            now[0] += 2
            await pilot.press("n", "enter")  # the Enter is for the letter
            assert app.answer == ConfirmResponse("deny")

    asyncio.run(story())
    for key in ("enter", "1", "2"):
        app = press(edit_request(), key, drafting=lambda: True)
        assert app.answers == []
        assert "Enter confirms" in app.picture


def test_where_no_list_is_seen_neither_enter_nor_a_number_answers() -> None:
    for key in ("enter", "1", "2"):
        assert press(edit_request(), key, size=(20, 5)).answers == []


def test_with_little_room_every_answer_keeps_its_number_and_is_seen_when_marked() -> None:
    shown = press(both()).picture
    for line in ("› 1. Yes, this once (y)", "6. Yes to all 2 (Y)", "7. No (n)"):
        assert line in shown
    assert "all edits, always here" not in shown
    assert "› 5. Yes, and all edits, always here (W)" in press(both(), *["down"] * 4).picture


def test_all_that_is_known_is_behind_a_question_mark() -> None:
    app = press(edit_request(), "?")
    assert "t would allow changes of calc.py" in picture(app)
    assert "? back" in picture(app)
    assert "? back" not in picture(press(edit_request(), "?", "?"))
    assert answers(edit_request(), ["?", "y"]) == [[ConfirmResponse("allow")]]


def test_no_with_words_for_the_model() -> None:
    app = press(edit_request(), "g", *"use b", "enter")
    assert app.answer == ConfirmResponse("deny", "use b")


def test_words_can_be_left_and_nothing_is_said() -> None:
    app = press(edit_request(), "g", "u", "escape", "y")
    assert app.answer == ConfirmResponse("allow")


def test_a_command_is_edited_in_place() -> None:
    app = press(command_request(), "e", "end", *" x", "enter")
    made = {"command": "npm install left-pad && sudo rm -rf build x"}
    assert app.answer == ConfirmResponse("allow", arguments=made)


def test_an_empty_command_is_refused() -> None:
    app = press(command_request(), "e", "ctrl+a", "ctrl+k", "enter")
    assert app.answers == []
    assert "The command is empty." in picture(app)


def test_arguments_are_edited_as_json() -> None:
    app = press(mcp_request(), "e", "ctrl+s")
    assert isinstance(app.answer, ConfirmResponse)
    assert app.answer.arguments == {
        "server": "tracker",
        "tool": "create_issue",
        "arguments": {"title": "Fix it", "labels": ["bug", "now"]},
    }


def test_what_is_no_json_is_said_so_and_can_be_fixed() -> None:
    app = press(mcp_request(), "e", "x", "ctrl+s")
    assert app.answers == []
    assert "That is not a JSON object" in picture(app)
    app = press(mcp_request(), "e", "x", "ctrl+s", "backspace", "ctrl+s")
    assert isinstance(app.answer, ConfirmResponse)


def test_a_command_that_hides_something_is_edited_as_json() -> None:
    request = asked("workspace_run_command", *command_request()[0].request.actions)
    work = working(request, command="ls \x1b[31m \u202e x")
    app = press((request, work), "e")
    shown = picture(app)
    assert "\\u001b[31m \\u202e" in shown
    app = press((request, work), "e", "ctrl+s")
    assert app.answer == ConfirmResponse("allow", arguments={"command": "ls \x1b[31m \u202e x"})


def test_the_effect_of_a_command_cannot_be_edited() -> None:
    request = asked("workspace_run_command", written("a", OLD, NEW, origin="command"))
    app = press((request, working(request, command="make")), "e")
    assert app.answers == []
    assert "e edit" not in picture(app)
    assert "D whole diff" in picture(app)


def test_a_call_with_a_hidden_secret_cannot_be_edited() -> None:
    request, _ = command_request()
    work = working(request, command="curl -H [redacted]")
    assert "e edit" not in picture(press((request, work)))


# Hunks.


def test_a_hunk_is_left_out_and_the_rest_is_sent() -> None:
    app = press(edit_request(), "D", "space", "enter")
    assert app.answer == ConfirmResponse("allow", hunks=(FileHunks("/w/calc.py", (2,)),))


KEYS = [
    (["enter"], ConfirmResponse("allow")),
    (["x", "enter"], ConfirmResponse("deny")),
    (["f", "enter"], ConfirmResponse("deny")),
    (["x", "a", "enter"], ConfirmResponse("allow")),
    (["space", "space", "enter"], ConfirmResponse("allow")),
    (["s", "s", "j", "k", "pagedown", "pageup", "G", "g", "l", "h", "enter"],
     ConfirmResponse("allow")),
]  # fmt: skip


def test_the_keys_of_the_choice() -> None:
    found = answers(edit_request(), *(["D", *keys] for keys, _ in KEYS))
    assert found == [[answer] for _, answer in KEYS]


def test_whole_files_are_left_out() -> None:
    app = press(
        many_files(), "D", "right_curly_bracket", "f", "right_curly_bracket", "space", "enter"
    )
    assert isinstance(app.answer, ConfirmResponse)
    assert app.answer.hunks == (FileHunks("/w/src/calc.py", (1, 2)),)


def test_the_choice_can_be_left_without_an_answer() -> None:
    left = [["D", "space", key, *more] for key in ("escape", "q", "D") for more in ([], ["y"])]
    yes = [ConfirmResponse("allow")]
    assert answers(edit_request(), *left) == [[], yes, [], yes, [], yes]


def test_the_answers_work_in_the_whole_diff_too() -> None:
    edits = ConfirmResponse("allow", scope="turn", lasting="edits")
    part = ConfirmResponse("allow", hunks=(FileHunks("/w/calc.py", (2,)),))
    for things, keys, said in (
        (edit_request(), ["D", "y"], [ConfirmResponse("allow")]),
        (edit_request(), ["D", "n"], [ConfirmResponse("deny")]),
        (edit_request(), ["D", "6"], [ConfirmResponse("deny")]),
        (edit_request(), ["D", "2"], [edits]),
        (edit_request(), ["D", "u"], []),
        (edit_request(), ["D", "u", "enter"], [edits]),
        (edit_request(), ["D", "space", "y"], [part]),
        (edit_request(), ["D", "space", "2"], []),  # all edits, without one of them?
        (edit_request(), ["D", "7", *"use b", "enter"], [ConfirmResponse("deny", "use b")]),
    ):
        assert answers(things, keys) == [said], keys
    shown = picture(press(edit_request(), "D"))
    assert "1. Yes, this once (y)" in shown
    assert "6. No (n)" in shown


def test_where_only_the_whole_can_be_answered_the_diff_says_why() -> None:
    request = asked("workspace_run_command", written("a", OLD, NEW, origin="command"))
    app = press((request, working(request, command="make")), "D")
    assert "Hunks cannot be chosen: it can only be approved or denied as a whole." in picture(app)
    assert press((request, working(request, command="make")), "D", "space", "enter").answers == []


def test_a_file_that_is_moved_is_one_choice() -> None:
    """One half of that cannot be meant alone."""
    moved = written("b", None, OLD, moved_from="/w/a"), written("a", OLD, None)
    request = asked("workspace_apply_patch", *moved, written("c", None, "c\n"))
    both = FileHunks("/w/b", (1,)), FileHunks("/w/a", (1,))
    asked_about = (request, working(request, patch=""))
    app = press(asked_about, "D", "j", "space")
    assert "[x] a → b  renamed" in picture(app)
    assert "1 of 2 accepted" in picture(app)
    found = answers(asked_about, ["D", "j", "space", "enter"], ["D", "space", "enter"])
    assert [one.hunks for (one,) in found] == [both, (FileHunks("/w/c", (1,)),)]


def test_the_choice_closes_when_the_request_is_gone() -> None:
    async def story() -> None:
        request, work = edit_request()
        app = Stand()
        async with app.run_test() as pilot:
            app.approvals.show([request], [work], grab=True)
            await pilot.press("D")
            await pilot.pause()
            assert isinstance(app.screen, DiffScreen)
            app.approvals.show([], [])
            await pilot.pause()
            assert not isinstance(app.screen, DiffScreen)
            assert not app.approvals.display
        assert app.answers == []

    asyncio.run(story())


# Several.


def test_several_agents_ask_and_are_answered_one_after_the_other() -> None:
    first, work = edit_request()
    second, other = command_request(corr="ask_2", lane="steersman/reviewer")
    third = network_request(corr="ask_3")
    things = [(first, work), (second, other), third]
    app = press(things)
    assert "1 of 3" in picture(app)
    app = press(things, "tab")
    assert "reviewer wants to run this command" in picture(app)
    assert "2 of 3" in picture(app)
    app = press(things, "shift+tab")
    assert "3 of 3" in picture(app)
    app = press(things, "tab", "n", "y", "y")
    assert app.answers == [
        ("ask_2", ConfirmResponse("deny")),
        ("ask_3", ConfirmResponse("allow")),
        ("ask_1", ConfirmResponse("allow")),
    ]
    assert app.emptied == 1


def test_what_is_asked_right_after_the_last_answer_is_read_first() -> None:
    """The keys still go there: one that was pressed for the last request answers no other."""

    async def story() -> Stand:
        app = Stand(patience=600)
        async with app.run_test(size=(80, 24)) as pilot:
            app.approvals.show(*queue(edit_request()), grab=True)
            await pilot.pause()
            app.approvals.show([], [])
            app.approvals.show(*queue(command_request(corr="ask_2")))
            await pilot.press("y")
            await pilot.pause()
            app.picture = screen_text(app)
        return app

    app = asyncio.run(story())
    assert app.answers == []
    assert "That was too quick" in picture(app)


def test_what_was_answered_is_not_asked_again_before_the_log_says_so() -> None:
    async def story() -> Stand:
        request, work = edit_request()
        app = Stand()
        async with app.run_test() as pilot:
            app.approvals.show([request], [work], grab=True)
            await pilot.press("y")
            app.approvals.show([request], [work], grab=True)
            await pilot.press("y", "n")
            assert not app.approvals.display
            app.approvals.reopen("ask_1")  # the answer did not arrive
            app.approvals.show([request], [work], grab=True)
            await pilot.press("n")
        return app

    app = asyncio.run(story())
    assert [answer for _, answer in app.answers] == [
        ConfirmResponse("allow"),
        ConfirmResponse("deny"),
    ]


def test_a_key_meant_for_something_else_gives_no_leave() -> None:
    """What came up this very moment is not answered by the key that was on its way."""

    async def story() -> Stand:
        now = [100.0]
        request, work = edit_request()
        other = network_request(corr="ask_2")
        app = Stand(patience=0.25, clock=lambda: now[0])
        async with app.run_test() as pilot:
            app.approvals.show([request, other], [work], grab=True)
            await pilot.press("y")
            assert app.answers == []
            assert "That was too quick: nothing is answered." in screen_text(app)
            now[0] += 1
            await pilot.press("y", "y")
            assert len(app.answers) == 1
            now[0] += 1
            await pilot.press("y")
            assert len(app.answers) == 2
        return app

    asyncio.run(story())


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("cancelled", "No longer asked: what wanted to know has ended."),
        ("done", "This was answered meanwhile."),
    ],
)
def test_a_key_for_what_is_gone_is_no_word(state: State, told: str) -> None:
    """The card says so, and keeps the keys that were on their way to it."""

    async def story() -> None:
        request, other = network_request(), network_request(corr="ask_2")
        app = Stand(patience=600)
        async with app.run_test() as pilot:
            app.approvals.show([request], [], grab=True)
            await pilot.pause()
            request.state = state
            app.approvals.show([], [], grab=True)
            await pilot.pause()
            assert told in screen_text(app)
            await pilot.press("t", "enter", "1", "enter", "y", "y", "enter")
            assert (app.answers, app.emptied) == ([], 0)
            assert app.query_one("#composer", Input).value == ""
            app.approvals.show([other], [], grab=True)
            await pilot.pause()
            assert told not in screen_text(app)
            assert "Yes, this once (y)" in screen_text(app)
            app.approvals.show([], [], grab=True)
            await pilot.pause()
            await pilot.press(*"yes, but")  # words are words
            assert app.query_one("#composer", Input).value == "yes, but"
            assert (app.answers, app.approvals.display) == ([], False)

    asyncio.run(story())


def test_a_key_that_is_not_offered_says_why_and_answers_nothing() -> None:
    """It does not get into the message either; letters that answer nothing anywhere do."""
    host, edit = network_request(), edit_request()
    for things, key, told in (
        (host, "t", "“t” (in this thread) is not possible here: it only holds for this host."),
        (host, "A", "“A” (always here) is not possible here: it only holds for this host."),
        (edit, "A", "“A” (always here) is not one of the answers here."),
        (edit, "Y", "“Y” answers several requests at once, and this is the only one."),
        (question("Which?", "one", "two"), "4", "“4” is not one of the answers here."),
    ):
        app = press(things, key)
        assert told in " ".join(app.picture.split()), app.picture
        assert app.answers == []
        assert app.typed == ""
    assert press(host, "x").typed == "x"


def test_the_users_own_command_is_theirs_and_runs_again_with_what_it_was_refused() -> None:
    action = Execute(
        "echo x >> ~/.notes", "/w", writes=("/home/me/.notes",), refused=("…",), again=True
    )
    request = asked("workspace_run_command", action, own=True)
    shown = " ".join(press(request).picture.split())
    assert "You want to run this command again with permission to write" in shown
    assert "1. Yes, and run it again (y)" in shown
    assert "y allows it for this one run" in press(request, "?").picture
    assert click.unstyle(request_words(request.request)).startswith("? You want to run")


def test_who_is_writing_is_not_disturbed() -> None:
    async def story() -> None:
        request, work = edit_request()
        app = Stand()
        async with app.run_test() as pilot:
            app.query_one("#composer", Input).focus()
            app.approvals.show([request], [work])
            await pilot.press("y", "n")
            assert app.answers == []
            assert app.query_one("#composer", Input).value == "yn"
            app.approvals.take_keys()
            await pilot.press("y")
            assert app.answer == ConfirmResponse("allow")

    asyncio.run(story())


def test_who_leaves_it_is_not_called_back() -> None:
    async def story() -> None:
        request, work = edit_request()
        app = Stand()
        async with app.run_test() as pilot:
            app.approvals.show([request], [work], grab=True)
            await pilot.pause()
            assert app.approvals.has_focus
            app.query_one("#composer", Input).focus()
            await pilot.pause()
            app.approvals.show([request], [work], grab=True)
            await pilot.pause()
            assert not app.approvals.has_focus
            other = network_request(corr="ask_0")
            app.approvals.show([other], [], grab=True)
            await pilot.pause()
            assert app.approvals.has_focus

    asyncio.run(story())


# Questions.

ASK = question("Which one?", "sqlite", "postgres", default="postgres")


def test_a_question_is_answered_by_number_by_choice_or_in_words() -> None:
    cases = {
        "1": "sqlite",
        "2": "postgres",
        "enter": "postgres",
        "up enter": "sqlite",
        "k k j enter": "postgres",
        "o m y enter": "my",
        "o enter": "postgres",
        "o x escape 1": "sqlite",
    }
    found = answers(ASK, *(keys.split() for keys in cases))
    assert found == [[Answer(answer)] for answer in cases.values()]


def test_a_question_that_offers_nothing_is_answered_in_words() -> None:
    assert answers(question("Name?", default="me"), ["enter"], [*"you", "enter"]) == [
        [Answer("me")],
        [Answer("you")],
    ]
    assert answers(question("Name?"), ["escape", "o", *"you", "enter"]) == [[Answer("you")]]


def test_keys_for_permissions_do_not_answer_questions() -> None:
    assert answers(ASK, ["3", "9", "y", "n", "g", "e", "D", "a", "t", "w"]) == [[]]


def test_an_option_can_be_clicked_on() -> None:
    async def story() -> Stand:
        app = Stand()
        async with app.run_test(size=(80, 24)) as pilot:
            app.approvals.show([ASK], grab=True)
            await pilot.pause()
            await pilot.click("#ask-body", offset=(6, 1))
            await pilot.pause()
        return app

    assert asyncio.run(story()).answer == Answer("sqlite")


def test_all_of_a_long_request_can_be_scrolled_to() -> None:
    old = "".join(f"line {number}\n" for number in range(5000))
    request = asked("workspace_write_file", written("long.txt", old, old.replace("line", "LINE")))
    work = working(request, path="long.txt", content=old.replace("line", "LINE"))
    assert "LINE 4999" not in picture(press((request, work)))
    assert "LINE 4999" in picture(press((request, work), *["pagedown"] * 3, "D", "G"))


def test_a_change_of_very_many_files_is_told_in_numbers() -> None:
    shown = picture(press(many_request()))
    assert "The agent wants to delete 12 untracked files and discard uncommitted" in shown
    assert "2 files: `src/a.py`, `notes.txt` and 12 more" in shown
    assert "12 of them (34,000 bytes) not in version control" in shown
    assert "notes.txt" in shown


def test_the_editor_is_told_of_where_there_is_none() -> None:
    async def story() -> None:
        request, work = mcp_request()
        app = Stand()
        async with app.run_test() as pilot:
            app.approvals.show([request], [work], grab=True)
            await pilot.press("e")
            await pilot.pause()
            await pilot.press("ctrl+g")  # a test has no terminal to give away
            await pilot.pause()
            assert app.query_one(TextArea).text
        assert app.answers == []

    asyncio.run(story())


# One card, and keys that are never words.


def both() -> list[Any]:
    first, work = edit_request()
    second, other = command_request(corr="ask_2")
    return [(first, work), (second, other)]


def test_what_is_asked_together_is_one_card_and_one_answer() -> None:
    shown = picture(press(both()))
    assert "The agent wants to do 2 things" in shown
    assert "› change `calc.py`" in shown
    assert "  run `npm install left-pad && sudo rm -rf build`" in shown
    assert "6. Yes to all 2 (Y)" in press(both(), *["down"] * 5).picture
    assert "8. No to all 2 (N)" in press(both(), *["down"] * 7).picture
    assert answers(both(), ["Y"], ["Y", "enter"], ["N"], ["n", "y"]) == [
        [],
        [ConfirmResponse("allow")] * 2,
        [ConfirmResponse("deny")] * 2,
        [ConfirmResponse("deny"), ConfirmResponse("allow")],
    ]


def test_one_answer_to_all_only_where_all_are_listed() -> None:
    several = [network_request(corr=f"ask_{number}") for number in range(30)]
    app = press(several, "Y")
    assert app.answers == []
    assert "Yes to all" not in picture(app)


def test_a_number_means_the_same_answer_however_large_the_window_is() -> None:
    """An answer to all, where not all are seen, is not there; its number answers nothing."""
    small = (50, 15)
    assert "7. No (n)" in press(both(), *["down"] * 6).picture
    app = press(both(), size=small)
    assert "7. No (n)" in app.picture
    assert "to all" not in app.picture
    app = press(both(), "6", size=small)
    assert app.answers == []
    assert "Not all are seen: enlarge the window for that." in app.picture
    assert "› 7. No (n)" in press(both(), *["down"] * 5, size=small).picture
    assert "› 5. Yes, and all edits" in press(both(), *["down"] * 5, "up", size=small).picture
    assert "› 9. No, and say" in press(both(), *["down"] * 9, size=small).picture
    for size in ((80, 24), small):
        app = press(both(), "7", size=size)
        assert [answer for _, answer in app.answers] == [ConfirmResponse("deny")]
        app = press(both(), "D", "7", size=size)
        assert [answer for _, answer in app.answers] == [ConfirmResponse("deny")]
    assert press(both(), "D", "6", size=small).answers == []


def test_what_is_below_the_edge_is_counted_and_nothing_is_skipped() -> None:
    things = edit_request()
    first = press(things)
    assert "more lines (PgDn)" in first.picture
    seen, pages = first.picture, 0
    while "(PgDn)" in press(things, *["pagedown"] * pages).picture:
        pages += 1
        seen += press(things, *["pagedown"] * pages).picture
    for line in ("line 3", "line four", "line 5", "line 25", "line 25 and a half", "line 26"):
        assert line in seen
    long = "".join(f"{number} {'x' * 90}\n" for number in range(30))
    new = asked("workspace_write_file", written("a.txt", None, long))
    pages_seen = press(new).picture + press(new, "pagedown").picture
    shown = re.findall(r"\+ (\d+) x", pages_seen)
    assert list(dict.fromkeys(map(int, shown))) == list(range(int(shown[-1]) + 1))
    small = asked("workspace_write_file", written("a.txt", "one\n", "two\n"))
    assert "PgDn" not in press(small).picture
    for size in ((80, 24), (50, 15), (40, 12), (30, 8)):
        assert "(PgDn)" in press(both(), size=size).picture


def test_an_agent_s_requests_are_not_answered_with_another_s() -> None:
    first, work = edit_request()
    second = network_request(corr="ask_2", lane="steersman/reviewer")
    assert answers([(first, work), second], ["Y"]) == [[]]


def test_words_answer_nothing_whatever_letter_they_begin_with() -> None:
    async def story() -> None:
        app = Stand(hold=1000)
        async with app.run_test(size=(80, 24)) as pilot:
            for words in ("no, use b", "go on", "yes", "stop", "all of it", "Do it", "just no"):
                request, work = edit_request()
                app.approvals.show([], [])
                app.approvals.show([request], [work], grab=True)
                await pilot.pause()
                keys = ["space" if one == " " else one for one in words]
                await pilot.press(*keys)
                await pilot.pause()
                field = app.query_one("#composer", Input)
                assert (field.value, app.answers) == (words, [])
                assert app.approvals.current is request
                field.value = ""
            app.approvals.take_keys()
            await pilot.press("y", "escape")  # what was not over is not answered
            await pilot.pause()
            assert app.answers == []

    asyncio.run(story())


def test_a_letter_alone_answers_after_a_moment() -> None:
    async def story() -> None:
        request, work = edit_request()
        app = Stand(hold=0.01)
        async with app.run_test() as pilot:
            app.approvals.show([request], [work], grab=True)
            await pilot.press("y")
            while not app.answers:
                await pilot.pause(0.01)
            assert app.answer == ConfirmResponse("allow")

    asyncio.run(story())


def test_what_is_left_is_one_line_with_the_way_back() -> None:
    async def story() -> None:
        app = Stand()
        blocks, works = queue(both())
        async with app.run_test(size=(80, 24)) as pilot:
            app.approvals.show(blocks, works, grab=True)
            await pilot.pause()
            app.query_one("#composer", Input).focus()
            await pilot.pause()
            app.approvals.fold()
            await pilot.pause()
            shown = screen_text(app)
            assert "? The agent wants to change `calc.py` (and 1 more)  F8 answers" in shown
            assert "this once" not in shown
            await pilot.click(app.approvals)
            await pilot.pause()
            assert "1. Yes, this once (y)" in screen_text(app)
            assert app.answers == []

    asyncio.run(story())


def test_only_keys_that_are_offered_are_named_beside_what_they_would_allow() -> None:
    lasting = (Lasting("same", ("connections to registry.example",), ("thread", "here")),)
    request = network_request(lasting=lasting).request
    keys = {one.key for one in offered(request)}
    assert "t/A would allow connections" in click.unstyle(request_words(request))
    assert (set(lasting_keys(request)), keys & {"t", "A"}) == ({"t", "A"}, {"t", "A"})
