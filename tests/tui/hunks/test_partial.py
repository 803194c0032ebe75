"""A choice of hunks as arguments of the same tool, carried out by the tool's own matcher."""

import hashlib
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from steersman.operations.matching import (
    Applied,
    Edit,
    UpdateFile,
    apply_edits,
    apply_hunks,
    parse_patch,
    unified_diff,
)
from steersman.ports.tui.partial import Whole, answer, arguments, why_whole
from steersman.records.action import Action, Delete, Execute, Write
from steersman.records.message import ConfirmRequest, ConfirmResponse, ToolCall
from steersman.views.hunks import files_of, with_accepted


def digest(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()


def written(name: str, old: bytes | None, new: bytes | None, **more: Any) -> Action:
    """The action of a tool that makes the old content the new one."""
    diff = unified_diff(name, old, new)
    if new is None:
        return Delete(f"/w/{name}", digest(old), diff, **more)
    return Write(f"/w/{name}", digest(old), digest(new), diff, **more)


def asked(tool: str, *actions: Action) -> ConfirmRequest:
    return ConfirmRequest("call_1", tool, actions, "edits are asked about")


def numbered(count: int, **changed: str) -> bytes:
    """Lines that are all different, some of them changed."""
    lines = [changed.get(f"l{at}", f"line {at}") for at in range(count)]
    return "".join(f"{line}\n" for line in lines).encode()


OLD = numbered(40)
NEW = numbered(40, l3="three", l20="twenty", l36="thirty six")


def test_a_file_is_written_with_the_accepted_hunks_only() -> None:
    request = asked("workspace_write_file", written("a.txt", OLD, NEW))
    call = ToolCall("workspace_write_file", {"path": "a.txt", "content": NEW.decode()})
    assert why_whole(request, call) == ""
    made = arguments(request, call, {(0, 0), (0, 2)})
    assert made == {
        "path": "a.txt", "content": numbered(40, l3="three", l36="thirty six").decode(),
    }  # fmt: skip


def test_everything_is_a_plain_yes_and_nothing_a_plain_no() -> None:
    request = asked("workspace_write_file", written("a.txt", OLD, NEW))
    call = ToolCall("workspace_write_file", {"path": "a.txt", "content": NEW.decode()})
    assert answer(request, call, {(0, 0), (0, 1), (0, 2)}) == ConfirmResponse("allow")
    assert answer(request, call, set()) == ConfirmResponse("deny")


def edits_for(file: bytes, made: list[dict[str, Any]]) -> bytes:
    outcome = apply_edits(file, [Edit(**edit) for edit in made])
    assert isinstance(outcome, Applied), outcome
    return outcome.content


def test_edits_are_made_from_the_accepted_hunks() -> None:
    request = asked("workspace_edit_files", written("a.txt", OLD, NEW))
    edits = [
        {"search": "line 3\n", "replace": "three\n"},
        {"search": "line 20", "replace": "twenty"},
        {"search": "line 36", "replace": "thirty six"},
    ]
    call = ToolCall("workspace_edit_files", {"files": [{"path": "./a.txt", "edits": edits}]})
    assert why_whole(request, call) == ""
    made = arguments(request, call, {(0, 1)})
    assert made["include_diff"] is True  # so that the model sees what came of it
    (file,) = made["files"]
    assert file["path"] == "./a.txt"
    assert edits_for(OLD, file["edits"]) == numbered(40, l20="twenty")


def test_of_several_files_some_are_kept_some_left_out_and_some_were_never_asked_about() -> None:
    one = written("one.txt", b"1\n", b"one\n")
    two = written("two.txt", b"2\n", b"two\n")
    request = asked("workspace_edit_files", one, two)
    entries = [
        {"path": f"{name}.txt", "edits": [{"search": number, "replace": name}]}
        for number, name in (("1", "one"), ("2", "two"), ("3", "three"))
    ]
    call = ToolCall("workspace_edit_files", {"files": entries})
    made = arguments(request, call, {(1, 0)})
    assert [file["path"] for file in made["files"]] == ["two.txt", "three.txt"]


def test_lines_that_stand_in_several_places_are_told_apart_by_what_the_call_searched() -> None:
    """The hunk alone would name two places; the call's own search names one."""
    block = "".join(f"    {line}\n" for line in "abcdefgh")
    old = f"first:\n{block}second:\n{block}{'rest' * 9}\n"
    search = f"second:\n{block}"
    edits = [
        {"search": search, "replace": search.replace("    d\n", "    D\n")},
        {"search": "first:\n", "replace": "FIRST:\n"},
    ]
    new = edits_for(old.encode(), edits)
    request = asked("workspace_edit_files", written("a", old.encode(), new))
    call = ToolCall("workspace_edit_files", {"files": [{"path": "a", "edits": edits}]})
    made = arguments(request, call, {(0, 1)})["files"][0]["edits"]
    assert made[0]["search"].startswith("second:\n")
    assert edits_for(old.encode(), made) == new.replace(b"FIRST", b"first")


def test_lines_known_to_stand_in_several_places_are_refused() -> None:
    block = "".join(f"{line}\n" for line in "abcdXefgh")
    old = (block + "\n" * 9 + block).encode()
    request = asked("workspace_edit_files", written("a", old, old.replace(b"X", b"Y")))
    edits = [{"search": "X", "replace": "Y", "replace_all": True}]
    call = ToolCall("workspace_edit_files", {"files": [{"path": "a", "edits": edits}]})
    with pytest.raises(Whole, match="several places"):
        arguments(request, call, {(0, 0)})


def test_a_patch_has_only_the_accepted_hunks_and_tells_equal_places_apart() -> None:
    block = "".join(f"{line}\n" for line in "abcdXefgh")
    old = (block + "\n" * 9 + block).encode()
    new = old.replace(b"X", b"Y")
    request = asked("workspace_apply_patch", written("a", old, new))
    call = ToolCall("workspace_apply_patch", {"patch": unified_diff("a", old, new)})
    assert why_whole(request, call) == ""
    made = arguments(request, call, {(0, 1)})
    (patch,) = parsed(made["patch"])
    assert isinstance(patch, UpdateFile)
    outcome = apply_hunks(old, patch.hunks)
    assert isinstance(outcome, Applied)
    assert outcome.content == b"Y".join(old.rsplit(b"X", 1))


def parsed(patch: str) -> list[Any]:
    found = parse_patch(patch)
    assert isinstance(found, list), found
    return found


def test_a_patch_of_several_files_keeps_those_that_were_accepted() -> None:
    actions = [
        written("new.txt", None, b"new\n"),
        written("old.txt", b"old\n", None),
        written("a.txt", OLD, NEW),
    ]
    patch = "".join(action.diff for action in actions if isinstance(action, Write | Delete))
    request = asked("workspace_apply_patch", *actions)
    call = ToolCall("workspace_apply_patch", {"patch": patch})
    made = arguments(request, call, {(0, 0), (2, 1)})
    assert [type(own).__name__ for own in parsed(made["patch"])] == ["AddFile", "UpdateFile"]
    made = arguments(request, call, {(1, 0)})
    assert [type(own).__name__ for own in parsed(made["patch"])] == ["DeleteFile"]


WHOLE: list[tuple[str, ConfirmRequest, ToolCall | None]] = [
    (
        "one change only",
        asked("workspace_write_file", written("a", b"a\n", b"b\n")),
        ToolCall("workspace_write_file", {"path": "a", "content": "b\n"}),
    ),
    (
        "as a whole",
        asked("propose_refactoring", written("a", OLD, NEW)),
        ToolCall("propose_refactoring", {}),
    ),
    ("as a whole", asked("workspace_write_file", written("a", OLD, NEW)), None),
    (
        "what a command did",
        asked("workspace_run_command", written("a", OLD, NEW, origin="command")),
        ToolCall("workspace_write_file", {"path": "a", "content": NEW.decode()}),
    ),
    (
        "more than change files",
        asked("workspace_write_file", written("a", OLD, NEW), Execute("ls", "/w")),
        ToolCall("workspace_write_file", {"path": "a", "content": NEW.decode()}),
    ),
    (
        "how it is encoded",
        asked("workspace_write_file", written("a", NEW.decode().encode("utf-16"), OLD)),
        ToolCall("workspace_write_file", {"path": "a", "content": OLD.decode()}),
    ),
    (
        "how it is encoded",  # the log hides a secret in the content
        asked("workspace_write_file", written("a", OLD, NEW)),
        ToolCall("workspace_write_file", {"path": "a", "content": NEW.decode() + "[redacted]"}),
    ),
    (
        "moves a file",
        asked("workspace_apply_patch", written("a", OLD, None), written("b", None, NEW)),
        ToolCall(
            "workspace_apply_patch",
            {"patch": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch"},
        ),
    ),
    (
        "let through already",
        asked("workspace_apply_patch", written("a", OLD, NEW)),
        ToolCall(
            "workspace_apply_patch",
            {"patch": unified_diff("a", OLD, NEW) + unified_diff("b", OLD, NEW)},
        ),
    ),
    (
        "not text",
        asked("workspace_apply_patch", written("a", b"\0", None), written("b", OLD, NEW)),
        ToolCall(
            "workspace_apply_patch",
            {
                "patch": "*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch",
            },
        ),
    ),
    (
        "other names",
        asked("workspace_edit_files", written("real.txt", OLD, NEW)),
        ToolCall(
            "workspace_edit_files",
            {"files": [{"path": "link.txt", "edits": [{"search": "a", "replace": "b"}]}]},
        ),
    ),
    (
        "cannot be read",
        asked("workspace_edit_files", written("a", OLD, NEW)),
        ToolCall("workspace_edit_files", {"files": "all"}),
    ),
]


@pytest.mark.parametrize(("why", "request_", "call"), WHOLE)
def test_where_only_the_whole_can_be_answered_it_is_said_why(
    why: str, request_: ConfirmRequest, call: ToolCall | None
) -> None:
    assert why in why_whole(request_, call)


def test_a_hidden_secret_is_never_written_as_its_mask() -> None:
    new = numbered(40, l3="key = [redacted]", l20="twenty")
    request = asked("workspace_edit_files", written("a.txt", OLD, new))
    edits = [{"search": "line 3\n", "replace": "key = [redacted]\n"},
             {"search": "line 20", "replace": "twenty"}]  # fmt: skip
    call = ToolCall("workspace_edit_files", {"files": [{"path": "a.txt", "edits": edits}]})
    with pytest.raises(Whole, match="secret"):
        arguments(request, call, {(0, 0)})
    assert arguments(request, call, {(0, 1)})


LINES = st.sampled_from(["a", "b", "c", "", "  d", "e", "f g", "x = 1", "é", "ß", "-- h", "@@ i"])
ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def changed(draw: st.DrawFn) -> tuple[str, str, list[dict[str, str]], set[int]]:
    """A text, what becomes of it, edits that make it so, and which hunks are accepted.

    Kept lines are alike, so that only some searches name one place; changes lie far apart.
    """
    end, old, new, edits = draw(ENDS), list[str](), list[str](), list[dict[str, str]]()
    count = draw(st.integers(2, 4))
    for number in range(count):
        kept = draw(st.lists(LINES, min_size=7, max_size=9))
        fate = draw(st.sampled_from(["drop", "add", "change"]))
        there, made = [f"old {number}"], [f"new {number}"]
        if fate == "add":
            made = [*there, *made]
        if fate == "drop":
            made = []
        width = draw(st.integers(0, 7))
        around = kept[len(kept) - width :]
        edits.append(
            {"search": end.join([*around, *there, ""]), "replace": end.join([*around, *made, ""])}
        )
        old += [*kept, *there]
        new += [*kept, *made]
    tail = draw(st.lists(LINES, max_size=9))
    last = draw(st.sampled_from([end, ""])) if tail else end
    accepted = draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=count - 1))
    both = [end.join([*lines, *tail]) + last for lines in (old, new)]
    return both[0], both[1], edits, accepted


@given(changed())
def test_whatever_is_accepted_the_tool_makes_exactly_that_of_the_file(
    case: tuple[str, str, list[dict[str, str]], set[int]],
) -> None:
    old, new, edits, accepted = case
    action = written("a.txt", old.encode(), new.encode())
    (file,) = files_of([action])
    assume(len(file.hunks) == len(edits))
    parts = {(0, hunk) for hunk in accepted}
    expected = (with_accepted(old, file, accepted) or "").encode()

    call = ToolCall("workspace_write_file", {"path": "a.txt", "content": new})
    made = arguments(asked("workspace_write_file", action), call, parts)
    assert made["content"].encode() == expected

    assume(edits_for(old.encode(), edits) == new.encode())
    call = ToolCall("workspace_edit_files", {"files": [{"path": "a.txt", "edits": edits}]})
    made = arguments(asked("workspace_edit_files", action), call, parts)
    assert edits_for(old.encode(), made["files"][0]["edits"]) == expected

    patch = unified_diff("a.txt", old.encode(), new.encode())
    call = ToolCall("workspace_apply_patch", {"patch": patch})
    made = arguments(asked("workspace_apply_patch", action), call, parts)
    (update,) = parsed(made["patch"])
    outcome = apply_hunks(old.encode(), update.hunks)
    assert isinstance(outcome, Applied)
    assert outcome.content == expected
