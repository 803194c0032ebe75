"""What git runs or loads inside a repository, by its name and by what is written there.

Most of it is protected whatever it says. What git itself writes while it rebases, bisects or picks
is protected only when git would run something that it says.
"""

import re

from steersman.records.action import Delete, Write
from steersman.records.patterns import pattern

# Names are compared in lower case. A submodule and a worktree have the same files further down.
_INSIDE = r"(?:^|/)\.git(?:/(?:modules|worktrees)/.+?)?/"
_OBEYED = pattern(
    rf"{_INSIDE}(?:hooks(?:/(?!.*\.sample$).*)?|config[^/]*|info/(?:attributes|grafts)"
    r"|objects/info/(?:http-)?alternates|commondir|gitdir)$"
    # Addresses in an old format; and the folder by which some shells take `bin` for their own.
    r"|(?:^|/)\.git/(?:(?:branches|remotes)/.+|safe)$",
    re.DOTALL,
)
_STATE = pattern(
    rf"{_INSIDE}(?:(?:rebase-merge|rebase-apply|sequencer)(?:/([^/]+))?|(bisect_\w+|shallow))$",
    re.DOTALL,
)
_QUOTED = r"'[^']*(?:'\\['!]'[^']*)*'"
_TODO = r"[ \t]*+(?!(?:exec|x)(?:\s|$)).*$"
_STRATEGY = r"(?:ort|recursive|resolve|octopus|ours|subtree)"
# A line that git would write there and run nothing for. What is not listed is not run at all.
_HARMLESS = {
    name: pattern(line, re.DOTALL)
    for name, line in {
        "git-rebase-todo": _TODO,
        "todo": _TODO,
        "strategy": rf"{_STRATEGY}$",
        "opts": rf"\[options\]$|\s*strategy = {_STRATEGY}$|\s*+(?!strategy\s*=)[a-z-]+ = .*$",
        "author-script": rf"GIT_AUTHOR_(?:NAME|EMAIL|DATE)={_QUOTED}$",
        "apply-opt": r"(?!.*unsafe).*$",
        "bisect_log": rf"#.*$|git bisect [\w-]+(?: (?:[\w./@^~-]+|{_QUOTED}))*\s*$|$",
        "bisect_names": rf"(?:\s*{_QUOTED})*\s*$",
        "bisect_terms": r"[A-Za-z][\w-]*$",
        "bisect_start": r"[^-\s]\S*$",
        "shallow": r"[0-9a-f]{40,64}$",
    }.items()
}


def obeyed(name: str) -> bool:
    """Whether git runs or loads a path of the workspace, in lower case, whatever it says."""
    return bool(_OBEYED.search(name))


def looked_into(name: str) -> bool:
    """Whether what is written at a path decides."""
    return bool(_STATE.search(name))


def runs_something(action: Write | Delete, name: str) -> bool:
    """Whether a change of a path in lower case is one that git would run or load."""
    if obeyed(name):
        return not (name.endswith("/config") and _harmless(action, "config"))
    state = _STATE.search(name)
    if state is None or isinstance(action, Delete):
        return False
    if not (part := state[1] or state[2]):
        # A folder of git's must be one: a link leads to what another says.
        return " → link to " in action.diff or action.diff.startswith("--- ")
    return part in _HARMLESS and not _harmless(action, part)


def _harmless(action: Write | Delete, part: str) -> bool:
    """Whether every line that a change adds is bookkeeping.

    That must be seen in a whole diff: a link, what is too large or no text, is not looked into.
    """
    from steersman.records import git_config_diff

    if isinstance(action, Delete) or not action.after:
        return False
    if action.before == action.after:
        return True
    lines = action.diff.removesuffix("\n").split("\n")
    if not all(line.startswith(("+", "-", "@", " ", "\\")) for line in lines):
        return False
    if part == "config":
        return git_config_diff.harmless(action.diff)
    added = [line[1:].removesuffix("\r") for line in lines if line.startswith("+")]
    return all(_HARMLESS[part].match(line) for line in added if not line.startswith("++ "))
