"""A person accepts some hunks of a change: only they are written, and the model gets to know."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from steersman.governance.approvals import Desk
from steersman.operations.changes import accepted, change_of
from steersman.operations.matching import unified_diff
from steersman.operations.workspace import Workspace
from steersman.records.action import Delete, Execute, Read, Write
from steersman.records.errors import UsageProblem
from steersman.records.hunks import FileHunks, hunks_of, misfit, parts_of, why_whole
from steersman.records.message import (
    ConfirmRequest,
    ConfirmResponse,
    DiffReady,
    Message,
    Policy,
    decode_body,
    encode_body,
)
from steersman.store.log import Lane
from tests.operations.workshop import PATIENCE, Workshop
from tests.store.logs import a_lane

LINES = [f"line {number}\n" for number in range(60)]
PLACES = (5, 30, 55)


def numbered(*changed: int) -> str:
    """The file with some of its lines changed."""
    return "".join(f"new {n}\n" if n in changed else line for n, line in enumerate(LINES))


class Person:
    """Accepts hunks by the names of their files; what is not named is rejected."""

    def __init__(self, folder: Path, **accepted: tuple[int, ...]) -> None:
        self._folder = folder
        self._accepted = accepted
        self.requests: list[ConfirmRequest] = []

    def __call__(self, message: Message) -> ConfirmResponse:
        """The answer to a request."""
        assert isinstance(message.body, ConfirmRequest)
        self.requests.append(message.body)
        root = self._folder.resolve()
        hunks = tuple(FileHunks(str(root / n), given) for n, given in self._accepted.items())
        return ConfirmResponse("allow", hunks=hunks)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with two files."""
    for name in ("one", "two"):
        (tmp_path / name).write_text("".join(LINES))
    return tmp_path


def edit(name: str, *places: int) -> dict[str, Any]:
    """Edits of some lines of a file."""
    edits = [{"search": f"line {n}\n", "replace": f"new {n}\n"} for n in places]
    return {"path": name, "edits": edits}


def patch_of(name: str, before: str | None, after: str | None) -> str:
    """A unified diff of one file."""
    both = (None if text is None else text.encode() for text in (before, after))
    return unified_diff(name, *both)


CALLS = {
    "workspace_edit_files": {"files": [edit("one", *PLACES)]},
    "workspace_write_file": {"path": "one", "content": numbered(*PLACES)},
    "workspace_apply_patch": {"patch": patch_of("one", "".join(LINES), numbered(*PLACES))},
}


@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize("accepted", [(1,), (2,), (3, 1), (1, 2, 3)])
def test_only_accepted_hunks_are_written(folder, tool, accepted):
    person = Person(folder, one=accepted)
    workshop = Workshop(folder, answer=person)
    result = workshop.one(tool, **CALLS[tool])
    assert result.status == "ok"
    chosen = [PLACES[number - 1] for number in accepted]
    assert (folder / "one").read_text() == numbered(*chosen)
    assert len(person.requests) == 1
    (diff,) = [m.body for m in workshop.messages if isinstance(m.body, DiffReady)]
    assert (diff.added, diff.removed) == (len(chosen), len(chosen))


@pytest.mark.parametrize("tool", CALLS)
def test_the_model_gets_to_know_what_was_left_out_with_its_lines(folder, tool):
    result = Workshop(folder, answer=Person(folder, one=(2,))).one(tool, **CALLS[tool])
    for number, place in ((1, 5), (3, 55)):
        assert f"one, hunk {number} of 3:\n@@ " in result.note
        assert f"-line {place}\n+new {place}" in result.note
    assert "new 30" not in result.note
    assert "left out" in result.note


def test_the_answer_of_an_edit_shows_what_is_left_of_it(folder):
    call = CALLS["workspace_edit_files"]
    result = Workshop(folder, answer=Person(folder, one=(2,))).one("workspace_edit_files", **call)
    (file,) = result.output["files"]
    assert file["replacements"] == 1
    assert "+new 30" in file["diff"]
    assert "new 5\n" not in file["diff"]


def test_a_change_that_is_accepted_whole_says_nothing_about_it(folder):
    result = Workshop(folder, answer=Person(folder, one=(1, 2, 3))).one(
        "workspace_edit_files", **CALLS["workspace_edit_files"]
    )
    assert result.note == ""


def test_a_file_without_an_accepted_hunk_is_not_touched(folder):
    files = [edit("one", 5), edit("two", 5, 30)]
    before = (folder / "one").stat()
    workshop = Workshop(folder, answer=Person(folder, two=(2,)))
    result = workshop.one("workspace_edit_files", files=files)
    assert (folder / "one").stat().st_mtime_ns == before.st_mtime_ns
    assert (folder / "one").stat().st_ino == before.st_ino
    assert (folder / "two").read_text() == numbered(30)
    assert "one: all of it; the file was not changed" in result.note
    assert [file["path"] for file in result.output["files"]] == ["two"]


def test_what_is_left_is_judged_before_it_is_written_and_nobody_is_asked_again(folder):
    person = Person(folder, one=(1,))
    workshop = Workshop(folder, answer=person)
    workshop.one("workspace_edit_files", **CALLS["workspace_edit_files"])
    kinds = workshop.kinds()
    assert kinds.count("confirm_request") == 1
    judged = [m for m in workshop.messages if isinstance(m.body, Policy)]
    writes = [m.body.action for m in judged if isinstance(m.body.action, Write)]
    asked, cut = writes
    assert asked.before == cut.before
    assert asked.after != cut.after
    assert parts_of(cut.diff) == 1
    assert kinds.index("confirm_response") < workshop.messages.index(judged[-1])
    assert workshop.messages.index(judged[-1]) < kinds.index("checkpoint")


@pytest.mark.parametrize("accepted", [{}, {"one": ()}])
def test_nothing_accepted_is_a_no(folder, accepted):
    workshop = Workshop(folder, answer=Person(folder, **accepted))
    result = workshop.one("workspace_edit_files", files=[edit("one", 5, 30)])
    assert result.status == "denied"
    assert "accepted none" in result.message
    assert "checkpoint" not in workshop.kinds()


# Patches that add, delete and move


PATCH = (
    patch_of("made", None, "new\n") + patch_of("two", "".join(LINES), None)
    + patch_of("one", "".join(LINES), numbered(5, 30))
)  # fmt: skip


@pytest.mark.parametrize("made", [(), (1,)])
@pytest.mark.parametrize("two", [(), (1,)])
@pytest.mark.parametrize("one", [(1,), (1, 2)])
def test_files_of_a_patch_are_added_and_deleted_as_they_were_accepted(folder, made, two, one):
    workshop = Workshop(folder, answer=Person(folder, made=made, two=two, one=one))
    assert workshop.one("workspace_apply_patch", patch=PATCH).status == "ok"
    assert (folder / "made").exists() == bool(made)
    assert (folder / "two").exists() == (not two)
    assert (folder / "one").read_text() == numbered(*(5, 30)[: len(one)])


MOVE = """*** Begin Patch
*** Update File: one
*** Move to: moved
@@
-line 5
+new 5
*** Update File: two
@@
-line 5
+new 5
*** End Patch
"""


@pytest.mark.parametrize("moves", [True, False])
def test_a_move_is_accepted_or_rejected_as_a_whole(folder, moves):
    accepted = {"one": (1,), "moved": (1,), "two": ()} if moves else {"two": (1,)}
    workshop = Workshop(folder, answer=Person(folder, **accepted))
    result = workshop.one("workspace_apply_patch", patch=MOVE)
    assert result.status == "ok"
    assert (folder / "moved").exists() == moves
    assert (folder / "one").exists() != moves
    assert (folder / "two").read_text() == numbered(*(() if moves else (5,)))


# What is no answer


CHANGE = Write("/w/one", "a", "b", patch_of("one", "".join(LINES), numbered(*PLACES)))
OTHER = Write("/w/two", "a", "b", patch_of("two", "".join(LINES), numbered(5)))
GONE = Delete("/w/old", "a", patch_of("old", "x\n", None))
MOVED = Write("/w/new", "", "b", patch_of("new", None, "y\n"), moved_from="/w/old")
EMPTY = Write("/w/empty", "", "b", patch_of("empty", None, ""))
PAST = Write("/w/one", "a", "b", CHANGE.diff, origin="command")


@pytest.mark.parametrize(
    ("actions", "chosen", "says"),
    [
        ([CHANGE], {"/w/one": (1, 3)}, ""),
        ([CHANGE], {}, ""),
        ([CHANGE, OTHER], {"/w/two": (1,)}, ""),
        ([EMPTY], {"/w/empty": (1,)}, ""),
        ([CHANGE], {"/w/one": (4,)}, "has 3 hunks, so there is no hunk 4"),
        ([CHANGE], {"/w/one": (0,)}, "no hunk 0"),
        ([OTHER], {"/w/two": (2,)}, "has 1 hunk, so"),
        ([CHANGE], {"/w/two": (1,)}, "not one of the files"),
        ([GONE, MOVED], {}, ""),
        ([GONE, MOVED], {"/w/old": (1,), "/w/new": (1,)}, ""),
        ([GONE, MOVED], {"/w/new": (1,)}, "as a whole"),
        ([GONE, MOVED], {"/w/old": (1,)}, "as a whole"),
        ([Execute("ls", "/w")], {}, "more than change files"),
        ([CHANGE, Read("/w/x")], {"/w/one": (1,)}, "more than change files"),
        ([PAST], {"/w/one": (1,)}, "approved or denied as a whole"),
    ],
)
def test_a_choice_fits_a_request_or_it_is_said_why_not(actions, chosen, says):
    found = misfit(actions, [FileHunks(path, numbers) for path, numbers in chosen.items()])
    assert bool(found) == bool(says)
    assert says in found


def test_a_file_that_is_named_twice_is_no_choice():
    twice = [FileHunks("/w/one", (1,)), FileHunks("/w/one", (2,))]
    assert misfit([CHANGE], twice) == "A file is named twice."


@pytest.mark.parametrize(
    ("actions", "why"),
    [([CHANGE], ""), ([OTHER, EMPTY], ""), ([OTHER], "only one hunk"), ([EMPTY], "only one hunk"),
     ([PAST], "as a whole"), ([Execute("ls", "/w")], "more than")],
)  # fmt: skip
def test_where_hunks_can_be_chosen(actions, why):
    assert why in why_whole(actions)
    assert bool(why) == bool(why_whole(actions))


def test_hunks_are_numbered_as_the_diff_shows_them():
    assert parts_of(CHANGE.diff) == 3
    for hunk, place in zip(hunks_of(CHANGE.diff), PLACES, strict=True):
        assert hunk.startswith("@@ -")
        assert f"+new {place}\n" in hunk
    names = CHANGE.diff.splitlines(keepends=True)[:2]
    assert "".join([*names, *hunks_of(CHANGE.diff)]) == CHANGE.diff


@pytest.mark.parametrize(
    ("asked_about", "wrong"),
    [
        (CHANGE, ConfirmResponse("allow", hunks=(FileHunks("/w/one", (9,)),))),
        (CHANGE, ConfirmResponse("allow", arguments={}, hunks=(FileHunks("/w/one", (1,)),))),
        (Execute("ls", "/w"), ConfirmResponse("allow", hunks=())),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_the_request_goes_on_waiting(asked_about, wrong):
    async def work(lane: Lane) -> ConfirmResponse:
        desk = Desk(attended=True)
        asked: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def watch(messages: list[Message]) -> None:
            if messages[0].kind == "confirm_request":
                asked.set_result(messages[0].corr or "")

        with lane.log.watched_by(watch):
            request = ConfirmRequest("c1", "a_tool", (asked_about,), "because")
            answer = asyncio.create_task(desk.confirm(request, lane))
            corr = await asyncio.wait_for(asked, PATIENCE)
            with pytest.raises(UsageProblem):
                await desk.answer(corr, wrong)
            assert not answer.done()
            await desk.answer(corr, ConfirmResponse("allow"))
            return await asyncio.wait_for(answer, PATIENCE)

    with a_lane() as lane:
        assert asyncio.run(work(lane)) == ConfirmResponse("allow")


def test_half_of_a_move_that_nobody_was_asked_about_goes_with_the_other():
    workspace = Workspace("/w")
    gone = change_of(workspace, "/w/old", b"x\n", None)
    moved = change_of(workspace, "/w/new", None, b"x\n", moved_from="/w/old")
    other = change_of(workspace, "/w/two", b"a\n", b"b\n")
    kept, left_out = accepted([gone, moved, other], ["/w/new"], [])
    assert kept == [other]
    assert "old: all of it; the file was not deleted" in left_out
    assert accepted([gone, moved], ["/w/old"], [])[0] == []
    assert accepted([gone, moved], ["/w/new"], [FileHunks("/w/new", (1,))])[0] == [gone, moved]


def test_very_much_that_was_left_out_is_counted_and_not_all_shown():
    before = b"".join(b"line %d\n" % number for number in range(9000))
    after = b"".join(b"new %d\n" % n if n % 20 == 0 else b"line %d\n" % n for n in range(9000))
    change = change_of(Workspace("/w"), "/w/long", before, after)
    assert parts_of(change.diff) == 450
    _, left_out = accepted([change], ["/w/long"], [FileHunks("/w/long", (1,))])
    assert len(left_out) < 7000
    assert "more, of 449 in all" in left_out


def test_an_answer_without_hunks_is_written_as_it_always_was():
    plain = ConfirmResponse("allow")
    assert encode_body(plain) == b'{"decision":"allow"}'
    assert decode_body("confirm_response", encode_body(plain)) == plain
    some = ConfirmResponse("allow", hunks=(FileHunks("/w/one", (1, 2)),))
    assert decode_body("confirm_response", encode_body(some)) == some
