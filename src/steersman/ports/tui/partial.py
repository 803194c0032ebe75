"""A choice of hunks as arguments of the same tool, so that only what was accepted is done.

Pure, and it goes by nothing but what the request and the call carry: the hunks have the lines
around them, the call has what it searches for or the whole new text. Every outcome is tried with
the tool's own matcher on all that is known of the file before it is offered; where that cannot
be, `Whole` says why, and a person can only take or leave the change as a whole.
"""

import hashlib
import os.path
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from steersman.operations.matching import (
    AddFile,
    Applied,
    DeleteFile,
    Edit,
    Refused,
    UpdateFile,
    apply_edits,
    apply_hunks,
    parse_patch,
)
from steersman.ports.tui.searches import Unplaced, as_arguments, edits_of, known_lines
from steersman.records.action import Delete, Write
from steersman.records.message import MASK, ConfirmRequest, ConfirmResponse, ToolCall
from steersman.views.hunks import (
    FileDiff,
    Part,
    all_parts,
    diff_with,
    files_of,
    of_file,
    with_accepted,
    without_rejected,
)
from steersman.views.requests import can_be_changed

MOST_LINES = 200_000
_BOM = "\ufeff"


class _FileEdits(Struct, frozen=True, omit_defaults=True):
    """What the tool for edits takes for one file."""

    path: str
    edits: list[Edit]


class Whole(Exception):
    """The change can only be taken or left as a whole, and why."""


def why_whole(request: ConfirmRequest, call: ToolCall | None) -> str:
    """Why a request can only be answered as a whole; empty when hunks can be chosen."""
    try:
        files = _checked(request, call)
        if sum(file.parts for file in files) < 2:
            raise Whole("it is one change only")
        assert call is not None
        # The patch tries each hunk; here only what holds for all of them is of interest.
        parts = frozenset[Part]() if call.tool == "workspace_apply_patch" else all_parts(files)
        _TOOLS[call.tool](request, call, files, parts)
    except Whole as reason:
        return str(reason)
    return ""


def answer(
    request: ConfirmRequest, call: ToolCall | None, accepted: Collection[Part]
) -> ConfirmResponse:
    """The answer that lets through what was accepted and nothing else; or `Whole`."""
    if not accepted:
        return ConfirmResponse("deny")
    if frozenset(accepted) == all_parts(files_of(request.actions)):
        return ConfirmResponse("allow")
    return ConfirmResponse("allow", arguments=arguments(request, call, accepted))


def arguments(
    request: ConfirmRequest, call: ToolCall | None, accepted: Collection[Part]
) -> dict[str, Any]:
    """The call's arguments with only the accepted hunks; raises `Whole`."""
    files = _checked(request, call)
    assert call is not None
    made = _TOOLS[call.tool](request, call, files, frozenset(accepted))
    if MASK in msgspec.json.encode(made).decode():
        raise Whole("a secret in it is hidden here, so it cannot be written anew")
    return made


def _checked(request: ConfirmRequest, call: ToolCall | None) -> list[FileDiff]:
    if not can_be_changed(request):
        raise Whole("what a command did can be allowed or not, and not be changed")
    if call is None or call.malformed or call.tool not in _TOOLS:
        raise Whole("this tool takes its changes as a whole")
    if not all(isinstance(action, Write | Delete) for action in request.actions):
        raise Whole("it does more than change files")
    return files_of(request.actions)


def _written(
    request: ConfirmRequest, call: ToolCall, files: Sequence[FileDiff], parts: Collection[Part]
) -> dict[str, Any]:
    """The new text without what was rejected: the call has all of it, and digests prove it."""
    action, (file,) = request.actions[0], files
    content = call.arguments.get("content")
    if not isinstance(action, Write) or not isinstance(content, str) or not file.hunks:
        raise Whole(file.why_whole or "it is one change only")
    for mark in ("", _BOM) if content.startswith(_BOM) else ("",):
        new = content.removeprefix(mark)
        old = without_rejected(new, file, ())
        mixed = without_rejected(new, file, of_file(parts, 0))
        if old is None or mixed is None:
            continue
        if _digest(content) == action.after and _digest(mark + old) == action.before:
            return {**call.arguments, "content": mark + mixed}
    raise Whole("its hunks do not tell all of the old text, such as how it is encoded")


def _edited(
    request: ConfirmRequest, call: ToolCall, files: Sequence[FileDiff], parts: Collection[Part]
) -> dict[str, Any]:
    """Each file's edits as they are, left out, or made anew from its accepted hunks."""
    made: list[dict[str, Any]] = []
    found: set[int] = set()
    for entry in _entries(call):
        number = _number(entry["path"], request, files)
        if number is None:
            made.append(entry)  # it was let through already, so nobody was asked about it
            continue
        found.add(number)
        file, accepted = files[number], of_file(parts, number)
        if len(accepted) == file.parts:
            made.append(entry)
        elif accepted:
            own = [Edit(**edit) for edit in entry["edits"]]
            made.append({**entry, "edits": _edits(file, accepted, own)})
    if found != set(range(len(files))):
        raise Whole("its files go by other names in the call")
    return {**call.arguments, "files": made, "include_diff": True}


def _entries(call: ToolCall) -> list[dict[str, Any]]:
    """The files of a call, if they are what the tool takes."""
    try:
        entries = msgspec.convert(call.arguments.get("files"), list[_FileEdits])
    except msgspec.ValidationError:
        raise Whole("the call cannot be read") from None
    return [msgspec.to_builtins(entry) for entry in entries]


def _number(name: str, request: ConfirmRequest, files: Sequence[FileDiff]) -> int | None:
    """Which of the files asked about a call's name means."""
    plain = os.path.normpath(name)
    for number, (file, action) in enumerate(zip(files, request.actions, strict=True)):
        path = getattr(action, "path", "")
        if plain in (file.name, path) or os.path.normpath(file.name) == plain:
            return number
    return None


def _edits(file: FileDiff, accepted: Collection[int], own: Sequence[Edit]) -> list[dict[str, Any]]:
    """Edits for a file's accepted hunks, tried on all that is known of it."""
    try:
        made = edits_of(file, accepted, own)
    except Unplaced:
        raise Whole(f"lines of {file.name} stand in several places") from None
    for one in made:
        for ending in _endings(file):
            border = f"<unknown>{ending}"
            old, new = (border + "".join(lines) for lines in (one.before, one.after))
            if one.before[-1].endswith("\n"):
                old, new = old + border, new + border
            _try(apply_edits(old.encode(), [one.edit]), new, file)
    return as_arguments(made)


def _endings(file: FileDiff) -> Sequence[str]:
    """How lines that nobody has told may end, as far as it could matter."""
    mixed = any("\r" in line for hunk in file.hunks for line in hunk.lines)
    return ("\n", "\r\n") if mixed else ("\n",)


def _patched(
    request: ConfirmRequest, call: ToolCall, files: Sequence[FileDiff], parts: Collection[Part]
) -> dict[str, Any]:
    """A unified diff of what was accepted, whose line numbers tell places apart."""
    given = parse_patch(str(call.arguments.get("patch", "")))
    if isinstance(given, Refused):
        raise Whole("the patch cannot be read")
    if any(isinstance(one, UpdateFile) and one.move_to is not None for one in given):
        raise Whole("the patch moves a file")
    if len(given) != len(files):
        raise Whole("other files of the patch were let through already and are not shown here")
    for file in files:
        if not file.head[0]:
            raise Whole(f"{file.name} cannot be told by a patch: {file.why_whole}")
    texts: list[str] = []
    for number, file in enumerate(files):
        accepted = of_file(parts, number)
        if accepted:
            texts.append(_patch(file, accepted))
    return {**call.arguments, "patch": "".join(texts), "include_diff": True}


def _patch(file: FileDiff, accepted: Collection[int]) -> str:
    """A file's part of a patch, tried on a file that has its lines where they are."""
    text = diff_with(file, accepted)
    read = parse_patch(text)
    if isinstance(read, Refused) or len(read) != 1:
        raise Whole(f"{file.name} cannot be told by a patch")
    match read[0]:
        case AddFile(path=path, content=content) if file.kind == "created":
            same = content == "".join(line for hunk in file.hunks for line in hunk.new)
        case DeleteFile(path=path) if file.kind == "deleted":
            same = True
        case UpdateFile(path=path, hunks=hunks) if file.kind == "changed":
            same = True
            for ending in _endings(file):
                old = _placed(file, ending)
                expected = with_accepted(old, file, accepted)
                _try(apply_hunks(old.encode(), hunks), expected or "", file)
        case _:
            same, path = False, ""
    if not same or path != file.name:
        raise Whole(f"{file.name} cannot be told by a patch")
    return text


def _placed(file: FileDiff, ending: str) -> str:
    """A file whose known lines are at their numbers; the others say nothing."""
    lines = known_lines(file)
    if len(lines) > MOST_LINES:
        raise Whole(f"{file.name} is too long for this")
    made = [f"<{at}, unknown>{ending}" if line is None else line for at, line in enumerate(lines)]
    return "".join(made)


def _try(outcome: Applied | Refused, expected: str, file: FileDiff) -> None:
    """What the tool's own matcher makes of it must be what was accepted."""
    if isinstance(outcome, Refused):
        raise Whole(f"in {file.name} it would not apply: {outcome.message}")
    if outcome.content != expected.encode():
        raise Whole(f"in {file.name} it would become something else")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_TOOLS = {
    "workspace_write_file": _written,
    "workspace_edit_files": _edited,
    "workspace_apply_patch": _patched,
}
