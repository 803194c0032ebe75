"""What a conversation leaves behind that must not be lost: read from its items, one by one. Pure.

Goal, words of the user, plan, todo list, files touched, commands that worked, the last error and
open questions are taken over as they are; nothing here is a model's opinion.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from steersman.intelligence.shortening import MEANWHILE, OURS, by_message, shorten
from steersman.records.counting import counted
from steersman.records.dialogue import AssistantItem, Call, Item, ResultItem, UserItem
from steersman.records.message import Kept, Said, Touched, Weight

LONG_WORDS, LONG_LIST, LONG_COMMAND, LONG_ERROR = 1_500, 6_000, 300, 800
MOST_FILES, MOST_COMMANDS, MOST_QUESTIONS = 60, 16, 4

RULE = re.compile(
    r"\b(always|never|do not|don['’]?t|must|mustn['’]?t|should|from now on|instead|rules?|only"
    r"|avoid|prefer|remember|keep in mind|make sure|no longer|not allowed|wrong|actually"
    r"|immer|nie|niemals|nicht|kein\w*|muss|müssen|ab jetzt|statt(dessen)?|regeln?|nur|bitte nicht"
    r"|toujours|jamais|ne pas|siempre|nunca|всегда|никогда|нельзя)\b"
    r"|不要|必须|必須|总是|禁止|永远|必ず|しないで|してはいけ|ではなく|항상|절대|하지 마",
    re.IGNORECASE,
)
PROOF = re.compile(
    r"\b(test|tests|pytest|tox|nox|make|lint|ruff|mypy|check|build|tsc|eslint|cargo|npm|pnpm|yarn"
    r"|go (test|build|vet)|gradle\w*|mvn|ctest|cmake|bazel|unittest|jest|vitest|phpunit|rspec)\b"
)
_EXIT = re.compile(r"^exit_code: (-?\d+)$", re.MULTILINE)
_CHANGES = re.compile(r"^changes: (\[.*\])$", re.MULTILINE)
_PATCHED = re.compile(
    r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\+\+\+ (?:b/)?([^\t\n]+)", re.MULTILINE
)
RUN, TODO, PLAN = "workspace_run_command", "workspace_update_todo", "propose_plan"


def is_rule(text: str) -> bool:
    """Whether words of the user look like a rule or a correction."""
    return RULE.search(text) is not None


def gather(kept: Kept, items: Iterable[tuple[Item, int]]) -> Kept:
    """What was kept before, and what these items, each with its message, add to it."""
    found = _Gathering(kept)
    for item, seq in items:
        found.take(item, seq)
    return found.kept()


class _Gathering:
    """Facts while they are collected; the newest of each kind counts."""

    def __init__(self, kept: Kept) -> None:
        self._before = kept
        self._goal = kept.goal
        self._words = {said.text: said for said in kept.words}
        self._plan, self._todo, self._error = kept.plan, kept.todo, kept.error
        self._failed: Call | None = None
        self._files = {file.path: file.what for file in kept.files}
        self._commands = dict.fromkeys(kept.commands)
        self._questions = list(kept.questions)
        self._calls: dict[str, Call] = {}

    def take(self, item: Item, seq: int) -> None:
        match item:
            case UserItem():
                self._hear(item, seq)
            case AssistantItem():
                self._calls.update((call.id, call) for call in item.calls)
                if not item.acts:
                    self._questions = asked(item.text)
            case ResultItem():
                call = self._calls.pop(item.call, None)
                if call is not None:
                    self._work(call, item)

    def _hear(self, item: UserItem, seq: int) -> None:
        if item.text.startswith(MEANWHILE):  # what was undone must not pass for done
            self._words[item.text] = Said(shorten(item.text, LONG_WORDS), seq, "steer")
        if item.text.startswith(OURS) or not item.text.strip():
            return
        self._questions = []
        if not self._goal:
            self._goal = item.text
            return
        why: Weight = "rule" if is_rule(item.text) else "steer" if item.steer else ""
        text = shorten(item.text, LONG_WORDS, by_message(seq))
        if text != self._goal:
            self._words.pop(text, None)  # said again: its newest place counts
            self._words[text] = Said(text, seq, why)

    def _work(self, call: Call, result: ResultItem) -> None:
        if result.failed:
            told = f"{describe(call)}\n{result.text.strip()}"
            self._error, self._failed = shorten(told, LONG_ERROR), call
            return
        if self._failed is not None and (call.name, call.arguments) == (
            self._failed.name,
            self._failed.arguments,
        ):
            self._error, self._failed = "", None
        if call.name == TODO:
            self._todo = shorten(listed(call.arguments), LONG_LIST)
        elif call.name == PLAN:
            self._plan = shorten(listed(call.arguments), LONG_LIST)
        elif call.name == RUN:
            self._ran(call, result.text)
        for path, what in touched(call):
            self._files.pop(path, None)
            self._files[path] = what

    def _ran(self, call: Call, text: str) -> None:
        command = str(call.arguments.get("command", ""))
        ahead = text.partition("\noutput:\n")[0]
        code = _EXIT.search(ahead)
        if code is None:
            return
        if code[1] != "0":
            self._error = shorten(f"{command}\n{text.strip()}", LONG_ERROR)
            self._failed = call
            return
        self._commands.pop(shorten(command, LONG_COMMAND), None)
        self._commands[shorten(command, LONG_COMMAND)] = None
        for change in _changes(ahead):
            what, _, path = change.partition(" ")
            self._files.pop(path, None)
            self._files[path or what] = f"{what} by `{shorten(command, 80)}`"

    def kept(self) -> Kept:
        proofs = [command for command in self._commands if PROOF.search(command)]
        others = [command for command in self._commands if not PROOF.search(command)]
        chosen = {*proofs[-(MOST_COMMANDS - 4) :], *others[-4:]}
        return replace(
            self._before,
            goal=self._goal,
            words=tuple(self._words.values()),
            plan=self._plan,
            todo=self._todo,
            error=self._error,
            files=_files(self._files),
            commands=tuple(command for command in self._commands if command in chosen),
            questions=tuple(self._questions[-MOST_QUESTIONS:]),
        )


def _files(found: dict[str, str]) -> tuple[Touched, ...]:
    """The newest files, those that were changed before those that were only read."""
    changed = [path for path, what in found.items() if what != "read"][-MOST_FILES:]
    read = [path for path, what in found.items() if what == "read"]
    room = max(MOST_FILES // 4, MOST_FILES - len(changed))
    chosen = {*changed, *read[-room:]}
    return tuple(Touched(path, what) for path, what in found.items() if path in chosen)


def _changes(text: str) -> list[str]:
    found = _CHANGES.search(text)
    try:
        return msgspec.json.decode(found[1], type=list[str]) if found else []
    except msgspec.DecodeError:
        return []


def touched(call: Call) -> list[tuple[str, str]]:
    """The files a call that went well touched, and what it did to them."""
    match call.name, call.arguments:
        case "workspace_read_file", {"path": str(path)}:
            return [(path, "read")]
        case "workspace_write_file", {"path": str(path), "content": str(content)}:
            lines = content.count("\n") + (not content.endswith("\n"))
            return [(path, f"written whole, {counted(lines, 'line')}")]
        case "workspace_edit_files", {"files": list(files)}:
            return [_edited(file) for file in files if isinstance(file, dict)]
        case "workspace_apply_patch", {"patch": str(patch)}:
            said = {"Add": "added", "Delete": "deleted"}
            return [
                (found[2] or found[3], f"{said.get(found[1] or '', 'changed')} by a patch")
                for found in _PATCHED.finditer(patch)
            ]
        case _:
            return []


def _edited(file: dict[str, Any]) -> tuple[str, str]:
    edits = file.get("edits")
    edits = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
    last = " ".join(str(edits[-1].get("replace", "")).split()) if edits else ""
    count = counted(len(edits), "edit")
    return str(file.get("path", "?")), f"{count}, the last one put in: {last[:100]}"


def asked(text: str) -> list[str]:
    """The questions at the end of an answer."""
    lines = [line.strip() for line in text.strip().splitlines()[-6:]]
    return [line[:400] for line in lines if line.endswith(("?", "？"))]


def describe(call: Call) -> str:
    """A call in a few words."""
    match call.arguments:
        case {"command": str(about)} | {"path": str(about)} | {"task": str(about)}:
            pass
        case {"files": list(files)}:
            about = ", ".join(str(f.get("path", "?")) for f in files if isinstance(f, dict))
        case _:
            about = call.malformed or ", ".join(map(str, call.arguments.values()))
    return f"{call.name.removeprefix('workspace_')} {' '.join(about.split())[:120]}".rstrip()


def listed(arguments: dict[str, Any]) -> str:
    """A todo list or a plan as text, whatever shape its tool gives it."""
    return "\n".join(_lines(arguments)).strip()


def _lines(value: Any) -> Sequence[str]:
    match value:
        case str():
            return [value]
        case list():
            return [f"- {' · '.join(_lines(inner))}" for inner in value]
        case dict() if len(value) == 1:
            return _lines(next(iter(value.values())))
        case dict():
            return [line for inner in value.values() for line in _lines(inner)]
        case _:
            return [msgspec.json.encode(value).decode()]
