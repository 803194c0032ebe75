"""What an agent accepts of a host that is not its own user: the holder of a token.

Over ssh the caller is the account itself. Over HTTPS whoever has a token could say yes to anything,
send any profile and any log. So the settings of the agent's own machine hold, the host can only
narrow them, and nothing is changed, or read by a file tool, that lies outside of the token's
folder. Anyone may ask whether a path is there and where a link leads, as a link in the folder would
show it as well. Pure.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from steersman.records.action import Action, ChangeMany, Delete, Execute, Verdict, Write
from steersman.records.change import Change
from steersman.records.errors import Denied
from steersman.records.hooks import BLOCKERS
from steersman.records.profile import Profile
from steersman.records.secret_files import SecretFiles
from steersman.records.settings import Settings

THREAD = re.compile(r"[A-Za-z0-9_-]{1,64}")  # it becomes the name of folders
# What this machine would only ask about, and a host may answer: it can be undone.
_ANSWERED = ("approvals.", "effects.loss")
_NETWORK = ("none", "door", "host")
_SETS = 0o6000  # a program with one of these runs as another
NEVER = "workspace.bounds"


def settings_within(own: Settings, asked: Settings) -> Settings:
    """The settings of this machine, narrowed by what a host asks for."""
    if blocking := sorted(BLOCKERS & own.hooks.keys()):
        raise Denied(
            "The machine of the workspace has hooks that can say no.",
            f"{' and '.join(blocking)} would not be run for a host elsewhere.",
            "Take these hooks out of its config.toml, or reach it with ssh.",
        )
    restricted = "restricted" in (own.trust, asked.trust)
    return Settings(
        trust="restricted" if restricted else "sandboxed",
        approvals=own.approvals,
        guard=own.guard,
        tools=asked.tools if own.tools == Settings().tools else own.tools,
        domains=own.domains,
        environment=own.environment,
        sockets=own.sockets,
        language_servers=own.language_servers,
        code_backends=own.code_backends,
        max_output=min(own.max_output, asked.max_output),
        max_processes=min(own.max_processes, asked.max_processes),
        max_file=min(own.max_file, asked.max_file),
        nice=max(own.nice, asked.nice),
        command_wait=asked.command_wait,
    )


def profile_within(own: Profile, asked: Profile) -> Profile:
    """How this machine confines a command, or more tightly where the host does."""
    return replace(
        own,
        guarded=own.guarded or asked.guarded,
        files="read" if "read" in (own.files, asked.files) else "write",
        granted=(),
        given=(),
        hidden=tuple(dict.fromkeys((*own.hidden, *asked.hidden))),
        network=min(own.network, asked.network, key=_NETWORK.index),
        nearby=tuple(one for one in own.nearby if one in asked.nearby),
        reaches=(),
        escalate="no",
        retry=False,
    )


def as_judged(action: Action) -> Action:
    """An action as this machine judges it: that the user undoes something, anyone may say."""
    if isinstance(action, Write | Delete | ChangeMany) and action.origin in ("person", "past"):
        return replace(action, origin="command")
    return action


def refused(action: Action, own: Verdict) -> Verdict | None:
    """Why an action is not done here, whatever the host says; None where that decides."""
    if isinstance(action, Execute) and (action.wants or action.direct):
        return Verdict(
            "deny", NEVER, "over HTTPS, commands stay in the sandbox of the other machine",
            "run it inside the sandbox, or reach the workspace with ssh",
        )  # fmt: skip
    if own.decision == "allow" or (own.decision == "ask" and own.rule.startswith(_ANSWERED)):
        return None
    if own.decision == "deny":
        return own
    return Verdict(
        "deny", NEVER, f"the settings of the other machine do not allow it ({own.rule})",
        "the user can allow it there with a rule, or reach the workspace with ssh",
    )  # fmt: skip


def check_thread(name: object) -> None:
    """Refuse what is no name of a thread."""
    if not isinstance(name, str) or THREAD.fullmatch(name) is None:
        raise Denied("This is no name of a thread.")


def check_paths(said: object) -> None:
    """Refuse a record of a host with changes that are not plainly inside of the workspace."""
    for change in changed(said):
        if {"", ".", ".."} & set(change.path.split("/")) or "\0" in change.path:
            raise Denied("This is no path of the workspace.")


def open_changes(changes: Iterable[Change], root: str, secret: SecretFiles) -> tuple[Change, ...]:
    """Changes that a host speaks of, without those of files that it must not see or make.

    From a log an undo is planned, with what there is now and what it contains: and the log is the
    host's. What is left out of it stays as it is.
    """
    return tuple(one for one in changes if not closed(one, root, secret))


def closed(change: Change, root: str, secret: SecretFiles) -> str:
    """Why a change is not looked at or made for a host; empty where it is."""
    if secret.covers(os.path.join(root, change.path)):
        return "it is a secret file"
    sets = any(one.kind == "file" and one.mode & _SETS for one in (change.before, change.after))
    return "it would run as its owner" if sets else ""


def changed(said: object) -> Iterator[Change]:
    """All changes in a record, wherever they are in it."""
    match said:
        case Change():
            yield said
        case msgspec.Struct():
            for name in said.__struct_fields__:
                yield from changed(getattr(said, name))
        case Mapping():
            for one in said.values():
                yield from changed(one)
        case list() | tuple() | set() | frozenset():
            for one in said:
                yield from changed(one)
