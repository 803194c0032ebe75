"""What must hold after a round, whatever happened in it: pure, from the evidence it left.

Every rule gives sentences about what is wrong; none means that the round passed.
"""

import base64
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from steersman.records.action import ChangeMany, Delete, Write
from steersman.records.message import Checkpoint, Error, Policy, ToolResult
from steersman.records.names import on_disk, shown, written
from tests.fuzz.plan import GUARDED, IN_GIT, Plan
from tests.fuzz.round import Evidence
from tests.fuzz.world import Node, Tree

_POWER = stat.S_ISUID | stat.S_ISGID
_DEFECT = re.compile(r"\w+ failed: [A-Z]\w*(?:Error|Exception|Warning): ")
_FOLDERS = (b".vscode", b".husky", b".claude")
_FILES = (b".mcp.json", b".envrc", b".bashrc")
_HOOK = re.compile(rb"(?:.*/)?\.git/hooks/[a-z-]+", re.DOTALL)
_LIMITS = ("annot be undone", "annot be restored", "ot taken over")


def violations(plan: Plan, evidence: Evidence) -> list[str]:
    """Everything that is wrong."""
    rules = (_outside, _judged, _guarded, _secrets, _undone, _powers, _remains, _defects)
    return [what for rule in rules for what in rule(plan, evidence)]


def _outside(plan: Plan, evidence: Evidence) -> Iterator[str]:
    """Nothing outside changed; without bubblewrap modes and times are not kept from a command."""
    before, after = evidence.outside
    if plan.machine == "direct":
        before, after = ({p: n._replace(mode=0, mtime_ns=0) for p, n in t.items()}
                         for t in (before, after))  # fmt: skip
    for path in _differing(before, after):
        yield f"outside, {_name(path)} changed: {_what(before, after, path)}"
    if evidence.around[0] != evidence.around[1]:
        yield f"around the workspace there was {evidence.around[0]}, now {evidence.around[1]}"
    if evidence.visited:
        yield "somebody came to a socket"


def _judged(plan: Plan, evidence: Evidence) -> Iterator[str]:
    """Nothing in the workspace changed without a verdict, by its name or among very many."""
    actions = [m.body.action for m in evidence.messages if isinstance(m.body, Policy)]
    if any(isinstance(action, ChangeMany) and not action.named for action in actions):
        return
    known = {_inside(action.path) for action in actions if isinstance(action, Write | Delete)}
    known.update(name.encode() for name in evidence.by_person)
    for path in _differing(_still(evidence.before), _still(evidence.after)):
        if path not in known and not _is_note_enough(path, plan, evidence):
            yield f"{_name(path)} changed without a verdict"


def _is_note_enough(path: bytes, plan: Plan, evidence: Evidence) -> bool:
    """Whether it is the mode of a pipe, or a new socket, where there is no view."""
    nodes = [tree[path] for tree in (evidence.before, evidence.after) if path in tree]
    plain = any(node.kind in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK) for node in nodes)
    return plan.machine == "direct" and path in evidence.after and not plain


def _inside(path: str) -> bytes:
    """The path of an action, in the workspace."""
    return os.fsencode(on_disk(path)).partition(b"/work")[2].lstrip(b"/")


def _guarded(plan: Plan, evidence: Evidence) -> Iterator[str]:
    """What other programs obey changed only where a person allowed it by name."""
    allowed = {
        _inside(action.path)
        for request, answer in evidence.asked
        for action in request.actions
        if answer == "allow" and isinstance(action, Write | Delete)
    }
    for path in _differing(_still(evidence.before), _still(evidence.after)):
        if plan.machine == "direct" and _is_beyond_recall(path, evidence):
            continue
        if _is_guarded(path, evidence) and path not in allowed:
            yield f"{_name(path)} changed: {_what(evidence.before, evidence.after, path)}"


def _is_beyond_recall(path: bytes, evidence: Evidence) -> bool:
    """Whether it was a pipe that is gone: where there is no view, that has happened."""
    return path in evidence.before and stat.S_ISFIFO(evidence.before[path].kind)


def _is_guarded(path: bytes, evidence: Evidence) -> bool:
    if path in (b"", b".git") and path in evidence.before and path in evidence.after:
        opened = evidence.after[path].mode & ~evidence.before[path].mode
        return bool(opened & (stat.S_IWGRP | stat.S_IWOTH))
    if path.endswith(b".git/config"):
        now = evidence.after.get(path)  # lines that git runs nothing for may come and go
        return now is None or not stat.S_ISREG(now.kind) or b"evil" in now.content
    if path in GUARDED + IN_GIT and path in evidence.before:
        return True
    parts = path.split(b"/")
    if parts[-1] in _FILES or not set(parts[:-1]).isdisjoint(_FOLDERS):
        return True
    return bool(_HOOK.fullmatch(path))


def _secrets(plan: Plan, evidence: Evidence) -> Iterator[str]:
    """No secret is anywhere but in its own file."""
    said = b"\n".join(msgspec.json.encode(message) for message in evidence.messages)
    for own, word in evidence.secrets.items():
        if plan.machine == "direct" and own in evidence.before:
            continue  # nothing can hide it there, and that is announced
        forms = _forms(word)
        if any(form in said for form in forms):
            yield f"the log has the secret of {_name(own)}"
        for found in (evidence.after, evidence.undone):
            for path, node in found.items():
                if path.rpartition(b"/")[2] != own.rpartition(b"/")[2] and _holds(node, forms):
                    yield f"{_name(path)} has the secret of {_name(own)}"


def _forms(word: str) -> list[bytes]:
    plain = word.encode()
    return [plain, plain[::-1], plain.hex().encode(), base64.b64encode(plain + b"\n")[:-4]]


def _holds(node: Node, forms: list[bytes]) -> bool:
    content = node.content
    if content[:1] == b"\x78":  # as git keeps it
        with suppress(zlib.error):
            content = zlib.decompress(content)
    return any(form in content for form in forms)


def _undone(plan: Plan, evidence: Evidence) -> Iterator[str]:
    """Undoing everything gives back the tree, but for what the notes name."""
    unkept = [note for note in _notes(evidence) if "content was not kept" in note]
    refused = evidence.refused.partition(" cannot be given")[0]
    if refused and any(refused in note for note in unkept):
        return
    if evidence.refused:
        yield f"the undo was refused: {evidence.refused}"
        return
    limits = [note for note in _notes(evidence) if any(words in note for words in _LIMITS)]
    by_person = {name.encode() for name in evidence.by_person}
    touched = _touched(evidence)
    for path in _differing(_still(evidence.before), _still(evidence.undone)):
        name = shown(written(os.fsdecode(os.path.basename(path))))
        if path in by_person or (name and any(name in note for note in limits)):
            continue
        yield f"not undone: {_name(path)}: {_what(evidence.before, evidence.undone, path)}"
    if plan.machine != "direct":
        for path in evidence.before.keys() & evidence.undone.keys() - touched:
            if evidence.before[path].mtime_ns != evidence.undone[path].mtime_ns:
                yield f"{_name(path)} was not changed and has another time"


def _notes(evidence: Evidence) -> Iterator[str]:
    for message in evidence.messages:
        match message.body:
            case ToolResult(output=dict() as output, note=note):
                yield from f"{note}; {output.get('note', '')}".split("; ")
            case Error(what=what, why=why):
                yield from f"{what}; {why}".split("; ")


def _touched(evidence: Evidence) -> set[bytes]:
    return {
        os.fsencode(on_disk(change.path))
        for message in evidence.messages
        if isinstance(message.body, Checkpoint)
        for change in message.body.changes
    }


def _powers(plan: Plan, evidence: Evidence) -> Iterator[str]:
    """No file came to run as its owner."""
    for path, node in {**evidence.undone, **evidence.after}.items():
        had = evidence.before[path].mode if path in evidence.before else 0
        if stat.S_ISREG(node.kind) and node.mode & _POWER & ~had:
            yield f"{_name(path)} runs as its owner: {node.mode:o}"


def _remains(plan: Plan, evidence: Evidence) -> Iterator[str]:
    """No process and no file of ours is left; the log is whole."""
    yield from (f"a process is left: {line}" for line in evidence.left)
    yield from (f"the log is broken: {flaw}" for flaw in evidence.flaws)
    for path in {**evidence.after, **evidence.undone}:
        if b".steersman-" in path:
            yield f"left behind: {_name(path)}"


def _defects(plan: Plan, evidence: Evidence) -> Iterator[str]:
    """Nothing failed in words that only a programmer understands."""
    for message in evidence.messages:
        if isinstance(message.body, ToolResult) and _DEFECT.match(message.body.message):
            yield f"a defect: {message.body.message}"


def _still(found: Tree) -> Tree:
    return {path: node._replace(mtime_ns=0) for path, node in found.items()}


def _differing(one: Tree, other: Tree) -> list[bytes]:
    return sorted(p for p in one.keys() | other.keys() if one.get(p) != other.get(p))


def _name(path: bytes) -> str:
    return repr(path)[2:-1] or "."


def _what(one: Tree, other: Tree, path: bytes) -> str:
    return f"{_words(one.get(path))} → {_words(other.get(path))}"


def _words(node: Node | None) -> str:
    if node is None:
        return "nothing"
    return f"{node.kind:o} {node.mode:o} {node.content[:40]!r} {node.mtime_ns}"
