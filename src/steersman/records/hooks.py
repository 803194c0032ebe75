"""The contract of hooks as Claude Code has it: what settings say, what a hook gets and answers.

Pure, but for links that `through` follows. `identity/hooks.py` finds them, `threads/hooks.py` runs
them. An answer can hold a call back, change it or say something about it; none of them allows what
the gate does not.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from stat import S_ISREG
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from steersman.records import validation
from steersman.records.call_ids import HOOK
from steersman.records.dialogue import Call
from steersman.records.matchers import compiled, matches
from steersman.records.message import HookDecision, HookEvent, ToolResult
from steersman.records.tool_names import MEANT, outward
from steersman.records.visible import quoted

EVENTS: tuple[HookEvent, ...] = get_args(HookEvent)
ANY = ("", "*")
MOST = 50  # hooks of one event in one file
REFUSES = 2  # the exit code that says no
LONGEST = 200  # characters of a command where it is named
LONGEST_PATH = 4096  # characters of one that may be that of a file
MOST_LOOKED_AT = 20_000  # files among which other names of one are looked for
TEXT = 10_000  # characters of an answer that the model or the user gets
Patched = Callable[[str], Iterable[str]]  # the files of a patch, by whoever will apply it
_BLOCKING: Mapping[str, HookDecision] = {
    "PreToolUse": "deny",
    **dict.fromkeys(
        ("PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact"), "block"
    ),
}
BLOCKERS = _BLOCKING.keys() - {"PostToolUse"}  # whose no holds something up; a call is done by then
_PATHS = ("file_path", "path", "paths")  # arguments that name files
_HEARD = ("UserPromptSubmit", "SessionStart", "PreCompact")  # whose plain words the model gets
_DECISIONS: Mapping[object, HookDecision] = {
    "allow": "allow", "approve": "allow", "ask": "ask", "deny": "deny", "block": "deny",
}  # fmt: skip
_STRICT = ("allow", "ask", "", "deny")  # the strictest last; empty is none that is known
_ARRAY = re.compile(r'^[ \t\ufffd]*\[\s*["\[{]', re.MULTILINE)


class Hook(Struct, frozen=True):
    """A command that is run when something happens, for at most `timeout` seconds."""

    event: HookEvent
    command: str
    source: str
    matcher: str = ""
    timeout: float = 60.0

    def fits(self, names: Iterable[str]) -> bool:
        """Whether one of the names is meant: of a tool, of why a session starts, and the like."""
        return self.matcher in ANY or any(matches(self.matcher, name) for name in names)


def run_name(event: HookEvent, of: str, at: int) -> str:
    """The name of a hook's run, by the call or the message that it is about."""
    return f"{HOOK}{event}_{of}_{at}"


def about(name: str) -> str:
    """The call or message that a run with such a name is about; empty for any other name."""
    return name.split("_", 2)[2].rpartition("_")[0] if name.startswith(HOOK) else ""


class _Entry(Struct, frozen=True):
    type: str
    command: str = ""
    timeout: Annotated[float, Meta(gt=0, le=600)] = 60.0


class _Group(Struct, frozen=True):
    hooks: list[_Entry]
    matcher: str = ""


class Answer(Struct, frozen=True):
    """What a hook answered: `problem` when it failed or cannot be understood."""

    decision: HookDecision = ""
    reason: str = ""
    context: str = ""
    arguments: dict[str, Any] | None = None
    message: str = ""
    problem: str = ""


def read(said: object, source: str) -> tuple[list[Hook], list[str]]:
    """The hooks of a `hooks` table, and sentences about what in it is not used."""
    if not isinstance(said, dict):
        return [], [f"The hooks in {source} are not used: “hooks” must be a table of events."]
    found: list[Hook] = []
    problems: list[str] = []
    for event, groups in said.items():
        if event not in EVENTS:
            known = ", ".join(EVENTS)
            problems.append(
                f"There is no event “{event}” for hooks ({source}). There are: {known}."
            )
            continue
        there: list[Hook] = []
        for group in groups if isinstance(groups, list) else [groups]:
            try:
                there += _hooks(event, msgspec.convert(group, _Group), source)
            except (msgspec.ValidationError, ValueError) as error:
                wrong = isinstance(error, msgspec.ValidationError)
                told = validation.in_words(error) if wrong else str(error)
                problems.append(f"A hook for {event} in {source} is not used: {told}.")
        if len(there) > MOST:
            problems.append(f"Of the hooks for {event} in {source} only {MOST} are used.")
        found += there[:MOST]
    return found, problems


def _hooks(event: HookEvent, group: _Group, source: str) -> Iterator[Hook]:
    if group.matcher not in ANY:
        compiled(group.matcher)
    for one in group.hooks:
        if one.type != "command":
            raise ValueError(f"hooks of type “{one.type}” are not supported, only “command”")
        if not one.command.strip() or "\0" in one.command:
            raise ValueError("a hook has no command")
        yield Hook(event, one.command, source, group.matcher, one.timeout)


def chosen(hooks: Iterable[Hook], event: HookEvent, names: Iterable[str] | None) -> list[Hook]:
    """The hooks for an event, each command once; None where the event has nothing to match."""
    known = None if names is None else tuple(names)
    meant = (h for h in hooks if h.event == event and (known is None or h.fits(known)))
    return list({hook.command: hook for hook in reversed(list(meant))}.values())[::-1]


def names_of(call: Call, seen: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """The names of a call's tool that a matcher may mean: theirs and ours."""
    shown = (name for name, _ in seen)
    theirs = (name for name, meant in MEANT.items() if call.name in meant)
    return tuple(dict.fromkeys((*shown, *theirs, call.name)))


def seen_as(call: Call, root: str, patched: Patched) -> list[tuple[str, dict[str, Any]]]:
    """A call as hooks see it: one that changes several files is an edit of each of them.

    Files have their whole and plain paths, so that none is hidden by `..`. The files of a patch
    are those of the parser that applies it: read in another way, some would stay unseen.
    """
    seen = _seen_as(call, root, patched)
    for _, given in seen:
        if isinstance(path := given.get("file_path"), str):
            given["file_path"] = os.path.normpath(path)
    return seen


def through(call: Call, root: str, patched: Patched) -> list[tuple[str, dict[str, Any]]]:
    """What a call is seen as with links followed, as its tool will do it, where that differs.

    A file that a hook refuses by its name is not another one by the name of a link.
    """
    made = []
    for name, given in _seen_as(call, root, patched):
        real = {key: _real(given[key], root) for key in _PATHS if key in given}
        if any(real[key] != _plain(given[key], root) for key in real):
            made.append((name, given | real))
        path = real.get("file_path")
        others = _other_names(path, root)[0] if isinstance(path, str) else []
        made += [(name, given | {"file_path": other}) for other in others]
    return made


def unseen(call: Call, root: str, patched: Patched) -> bool:
    """Whether a file of a call has other names in a workspace too large to look for them."""
    paths = (_real(given.get("file_path"), root) for _, given in _seen_as(call, root, patched))
    return any(isinstance(path, str) and not _other_names(path, root)[1] for path in paths)


def _other_names(path: str, root: str) -> tuple[list[str], bool]:
    """Hard links to a file inside the workspace, and whether these are all of them."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return [], True
    found: list[str] = []
    if not S_ISREG(status.st_mode) or status.st_nlink < 2:
        return found, True
    looked = 0
    for folder, _, files in os.walk(root):
        for name in files:
            looked += 1
            if looked > MOST_LOOKED_AT:
                return found, False
            other = os.path.join(folder, name)
            with suppress(OSError):
                if other != path and os.path.samestat(os.lstat(other), status):
                    found.append(other)
        if len(found) + 1 == status.st_nlink:
            break
    return sorted(found), True


def _plain(said: object, root: str) -> object:
    """A path as it is written, or several of them, from the root of all."""
    if isinstance(said, list):
        return [_plain(one, root) for one in said]
    return os.path.normpath(os.path.join(root, said)) if isinstance(said, str) else said


def _real(said: object, root: str) -> object:
    if isinstance(said, list):
        return [_real(one, root) for one in said]
    if not isinstance(said, str) or "\0" in said or len(said) > LONGEST_PATH:
        return _plain(said, root)
    return os.path.realpath(os.path.join(root, said))


def _seen_as(call: Call, root: str, patched: Patched) -> list[tuple[str, dict[str, Any]]]:
    match call.name, call.arguments:
        case "workspace_edit_files", {"files": [*files]}:
            return [_edit(call, file, root) for file in files]
        case "workspace_apply_patch", {"patch": str(patch)}:
            named = [os.path.join(root, path) for path in dict.fromkeys(patched(patch))]
            return [("Edit", {"file_path": path, "patch": patch}) for path in named] or [
                (call.name, dict(call.arguments))
            ]
    return [outward(call.name, call.arguments, root)]


def _edit(call: Call, file: object, root: str) -> tuple[str, dict[str, Any]]:
    """The edits of one file: one, or several that are made together."""
    match file:
        case {"path": str(path), "edits": [_, _, *_] as edits}:
            parts = [{"files": [{"path": path, "edits": [edit]}]} for edit in edits]
            made = [outward(call.name, part, root)[1] for part in parts]
            for one in made:
                one.pop("file_path", None)
            return "MultiEdit", {"file_path": os.path.join(root, path), "edits": made}
    return outward(call.name, {"files": [file]}, root)


def response_of(result: ToolResult, given: Mapping[str, Any]) -> dict[str, Any]:
    """What came of a call, with the names that hooks know from Claude Code beside ours."""
    output = result.output if isinstance(result.output, dict) else {"output": result.output}
    if "exit_code" in output:
        return {**output, "stdout": output.get("output", ""), "stderr": "", "interrupted": False}
    if "file_path" in given:
        return {**output, "filePath": given["file_path"], "success": True}
    return output


def unheard(hook: Hook, why: str) -> Answer:
    """A hook that was not heard out: it might have said no, so a call is asked about."""
    if hook.event != "PreToolUse":
        return Answer(problem=why)
    told = f"the hook {quoted(hook.command, LONGEST)} could not say whether this is allowed: {why}"
    return Answer("ask", told, problem=why)


def withheld(hook: Hook, why: str) -> Answer:
    """A hook that was not run because its files changed: nor does a message pass unseen."""
    if hook.event != "UserPromptSubmit":
        return unheard(hook, why)
    return Answer("block", f"the hook {quoted(hook.command, LONGEST)} was {why}", problem=why)


def understood(event: HookEvent, code: int, printed: str, errors: str) -> Answer:
    """What a hook that ended means, by its exit code and what it printed."""
    told = errors.strip()[:TEXT]
    if code == REFUSES:
        decision = _BLOCKING.get(event, "")
        if not decision:
            return Answer(problem=told or "exit code 2")
        return Answer(decision, told or "the hook gives no reason")
    if code != 0:
        first = told.partition("\n")[0][:300]
        return Answer(problem=f"exit code {code}{f': {first}' if first else ''}")
    plain = printed.strip().removeprefix("\ufeff").strip()
    if not plain.startswith("{"):
        if event == "PreToolUse" and _like_an_answer(plain.replace("\0", "")):
            return Answer(problem="what it printed is not JSON alone, in UTF-8, as one object")
        return Answer(context=plain[:TEXT] if event in _HEARD else "")
    try:
        msgspec.json.decode(plain, type=dict[str, Any])
        said = json.loads(plain, object_pairs_hook=_strictest)  # also of what is said twice
    except (msgspec.DecodeError, RecursionError):
        return Answer(problem="what it printed begins like JSON and is none")
    try:
        return _told(event, msgspec.convert(_spelled(said), _Said))
    except msgspec.ValidationError as error:
        return Answer(problem=f"its answer is not valid: {validation.in_words(error)}")


def _like_an_answer(text: str) -> bool:
    """Whether JSON may be somewhere in a text, as an object or a list."""
    return 0 <= text.find("{") < text.rfind("}") or _ARRAY.search(text) is not None


_Decision = Literal["approve", "block", "allow", "deny", "ask"]


class _Specific(Struct, frozen=True, rename="camel"):
    hook_event_name: str = ""
    permission_decision: _Decision | None = None
    permission_decision_reason: str | None = None
    updated_input: dict[str, Any] | None = None
    additional_context: str | None = None


class _Said(Struct, frozen=True, rename="camel"):
    """The JSON that a hook may print."""

    continue_: Annotated[bool, Meta()] = msgspec.field(default=True, name="continue")
    stop_reason: str | None = None
    system_message: str | None = None
    decision: _Decision | None = None
    permission_decision: _Decision | None = None
    reason: str | None = None
    hook_specific_output: _Specific | None = None


_NAMES = {
    field.encode_name.lower(): field.encode_name
    for kind in (_Said, _Specific)
    for field in msgspec.structs.fields(kind)
}


def _spelled(said: dict[str, Any]) -> dict[str, Any]:
    """An answer in the spelling that is asked for: it is heard, also when it shouts."""
    found: list[tuple[str, Any]] = []
    for key, value in said.items():
        name = _NAMES.get(key.replace("_", "").lower(), key)
        if name in ("decision", "permissionDecision") and isinstance(value, str):
            value = value.strip().lower() or None
        if name == "hookSpecificOutput" and isinstance(value, dict):
            value = _spelled(value)
        found.append((name, value))
    return _strictest(found)


def _strictest(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """What pairs say together: of a decision that is there twice, the strictest counts."""
    made: dict[str, Any] = {}
    for name, value in pairs:
        before = made.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            made[name] = _strictest([*before.items(), *value.items()])
        elif name in made and _rank(before) > _rank(value):
            continue
        else:
            made[name] = value
    return made


def _rank(value: object) -> int:
    """How strict a value is; what is no decision may be meant as one."""
    if value is None or isinstance(value, bool):
        return -1 if value is None else int(value is False)
    word = value.strip().lower() if isinstance(value, str) else ""
    return _STRICT.index(_DECISIONS.get(word, ""))


def _told(event: HookEvent, said: _Said) -> Answer:
    more = said.hook_specific_output or _Specific(event)
    problem = ""
    if more.hook_event_name.lower() not in ("", event.lower()):
        problem, more = f"it answers for {more.hook_event_name}", _Specific(event)
    decision, reason = _decided(event, said, more)
    return Answer(
        decision,
        (reason or "")[:TEXT],
        (more.additional_context or "")[:TEXT],
        more.updated_input if event == "PreToolUse" else None,
        (said.system_message or "")[:TEXT],
        problem,
    )


def _decided(event: HookEvent, said: _Said, more: _Specific) -> tuple[HookDecision, str | None]:
    if not said.continue_:
        return "stop", said.stop_reason or said.reason or "a hook stopped the work"
    if event == "PreToolUse":
        made = _DECISIONS.get(
            max(more.permission_decision, said.permission_decision, said.decision, key=_rank), ""
        )
        reason = more.permission_decision_reason or said.reason
        return made, reason or ("the hook gives no reason" if made in ("deny", "ask") else "")
    if said.decision in ("block", "deny") and event in _BLOCKING:
        return "block", said.reason or "the hook gives no reason"
    return "", said.reason
