"""How a push runs that a repository of this machine is open to: git, and nothing that it might run.

The program is the host's git, found outside the workspace; its environment is a few names, and its
PATH has nothing of the workspace. Settings that would start a program are turned off on both sides.
Whatever they say, what receives is git in the one repository that was approved.
"""

import os
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from steersman.operations.running.programs import found, outside
from steersman.operations.running.pushing import Aim, aim, at_home, repository_at, words_of
from steersman.records.errors import ToolProblem
from steersman.records.profile import Profile

_KEPT = frozenset({"HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "XDG_CONFIG_HOME"})
_UNAIDED = {
    "GIT_ALLOW_PROTOCOL": "file",  # no ssh, no credential helper, no helper for a protocol
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_SENDER = (
    "core.fsmonitor=false", f"core.hooksPath={os.devnull}", "push.gpgSign=false",
    "push.negotiate=false", "submodule.recurse=false", "push.recurseSubmodules=no",
)  # fmt: skip
# Only a line that needs a shell is given to one: git would look for a program named ":".
_RECEIVER = (
    "core.alternateRefsCommand=: #", "core.fsmonitor=false", f"core.hooksPath={os.devnull}",
    "receive.autogc=false",
)  # fmt: skip


class PushLine(NamedTuple):
    """What is started in place of a shell, and its whole environment."""

    argv: list[str]
    environ: dict[str, str]


def push_line(command: str, cwd: str, workspace: str, profile: Profile) -> PushLine | None:
    """How a command runs that a repository was opened to; None for one that was given none.

    Raises where that is not, or no longer, a push to this repository and nothing else.
    """
    opened = [place for place in profile.granted if repository_at(place) == place]
    if not opened:
        return None
    found_now = aim(command, cwd, profile.environ, workspace)
    git = found("git", profile.environ, workspace)
    if opened != [found_now.place] or git is None:
        why = found_now.why_not or "it goes somewhere else now" if git else "git was not found"
        raise ToolProblem("The push was not started.", f"{why[:1].upper()}{why[1:]}.")
    line = [git, *_settings(*_SENDER), "push", f"--receive-pack={_receiving(git, found_now)}"]
    words = (at_home(word, profile.environ) for word in words_of(command) or ())
    return PushLine([*line, *words], _environ(profile.environ, workspace))


def _receiving(git: str, to: Aim) -> str:
    """What a shell starts as the receiver; the repository that git names after it is a comment."""
    settings = _settings(*_RECEIVER, f"receive.denyCurrentBranch={to.checked_out}")
    return f"{shlex.join([git, *settings, 'receive-pack', to.place])} #"


def _settings(*settings: str) -> list[str]:
    return [word for one in settings for word in ("-c", one)]


def _environ(environ: Mapping[str, str], workspace: str) -> dict[str, str]:
    kept = {name: value for name, value in environ.items()
            if name in _KEPT or name.startswith("LC_")}  # fmt: skip
    return kept | _UNAIDED | {"PATH": outside(environ.get("PATH", ""), workspace)}
