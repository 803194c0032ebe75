"""Finds effects that no verdict allowed: pure, from what was logged, noticed and found on disk."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from steersman.operations.journal.journal import INLINE

SECRET = "TOP-SECRET"
STAGED = ".steersman-"
IGNORING = ("/.gitignore", "/.git/info/exclude")
Tree = dict[str, str]


class Event(Struct, frozen=True):
    """Something the program did to a path, and how far the log had come by then."""

    what: str  # read, list or change
    path: str
    at: int


class Story(Struct, frozen=True):
    """What came of a case. `excused` are changes somebody else made meanwhile."""

    root: str
    messages: list[dict[str, Any]]
    events: list[Event]
    before: Tree
    after: Tree
    excused: Tree


class Permit(Struct, frozen=True):
    """An action that was let through, and the message after which it may happen."""

    since: int
    action: dict[str, Any]


def leave_given(messages: list[dict[str, Any]]) -> Iterator[Permit]:
    """Every action with an allowing verdict, or a person's approval.

    Who accepts only some hunks has approved nothing yet: what is left of the call is judged anew.
    """
    asked: dict[str, list[dict[str, Any]]] = {}
    judged: list[dict[str, Any]] = []
    calls: dict[str, str] = {}
    chosen: dict[str, set[str]] = {}
    for message in messages:
        body = message["body"]
        match message["kind"]:
            case "policy" if body["verdict"]["decision"] == "allow":
                yield Permit(message["seq"], body["action"])
            case "policy" if body["verdict"]["decision"] == "ask":
                judged.append(body["action"])
                if body["action"].get("path") in chosen.get(message["corr"], ()):
                    yield Permit(message["seq"], body["action"])
            case "confirm_request":
                asked[message["corr"]] = [a for a in body["actions"] if a in judged]
                calls[message["corr"]] = body["call"]
            case "confirm_response" if body["decision"] == "allow" and "hunks" in body:
                named = {one["path"] for one in body["hunks"] if one["numbers"]}
                chosen[calls[message["corr"]]] = named
            case "confirm_response" if body["decision"] == "allow":
                yield from (Permit(message["seq"], a) for a in asked.get(message["corr"], ()))


def unexplained(story: Story) -> list[str]:
    """Sentences about every effect without leave.

    That a command was let run does not explain what it did: each effect has a verdict of its own.
    """
    leaves = list(leave_given(story.messages))
    free = _trusts_fully(story.messages)
    found = []
    for event in story.events:
        if event.what == "read" and {".git", ".gitignore"} & set(event.path.split("/")):
            continue  # the host's own look at what git obeys and has, in the folders above too
        given = [leave.action for leave in leaves if leave.since <= event.at]
        if not any(_covers(action, event, story.root) for action in given):
            found.append(f"{event.what} of {event.path} after message {event.at}")
    for path in sorted({*story.before, *story.after}):
        if story.before.get(path) == story.after.get(path):
            continue
        if path in story.excused and story.excused[path] == story.after.get(path, ""):
            continue
        if not any(_makes(leave.action, path, story.root, free=free) for leave in leaves):
            found.append(f"{path} is {story.after.get(path, 'gone')}")
    for message in story.messages:
        if SECRET in str(message) and not free:
            found.append(f"what is outside is in message {message['seq']}")
    return found


def _covers(action: dict[str, Any], event: Event, root: str) -> bool:
    """Whether leave for an action is leave for what was noticed."""
    kind, path = action["action"], action.get("path", "")
    if kind == "execute":
        # A command may do what it likes in the workspace, and its effects are looked for there.
        return _below(event.path, f"{root}/ws")
    if kind in ("write", "delete"):
        return event.path == path or _below(path, event.path) or _stages(event.path, path)
    if event.what == "change":
        return False
    if kind in ("list", "search"):
        # What is passed over is written in files of the folders above.
        return _below(event.path, path) or event.path.endswith(IGNORING)
    return event.path == path


def _stages(hidden: str, path: str) -> bool:
    """Whether a hidden name is where new content waits until it takes its place.

    That is in the nearest folder that is there already; the tree tells if anything stays.
    """
    folder, mark, _ = hidden.partition(f"/{STAGED}")
    return bool(mark) and _below(path, folder)


def _trusts_fully(messages: list[dict[str, Any]]) -> bool:
    """Whether everything may be looked at, and commands are not confined."""
    return any(
        message["kind"] == "session_start" and message["body"]["trust"] == "untrusted"
        for message in messages
    )


def _makes(action: dict[str, Any], path: str, root: str, *, free: bool) -> bool:
    """Whether leave for an action explains that something is there, or gone, afterwards."""
    match action["action"]:
        case "write":
            return path == action["path"] or _below(action["path"], path)
        case "delete":
            return path == action["path"]
        case "change_many":
            named = action["created"] + action["changed"] + action["deleted"]
            return named > INLINE and _below(path, action["path"])
        case "execute":
            # In the workspace its effects have verdicts of their own; elsewhere, if it is not
            # confined, nobody looks.
            return (free or action.get("outside", False)) and not _below(path, f"{root}/ws")
        case _:
            return False


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
