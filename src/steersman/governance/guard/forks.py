"""Branches: what a variable may be after a part that was perhaps taken and perhaps not.

A command that uses such a variable is read once for every value it may have; where that cannot be
done, the variable is unknown.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from steersman.governance.guard.marks import UNSET

if TYPE_CHECKING:
    from tree_sitter import Node

    from steersman.governance.guard.shell import Shell, Value

_FOLDER = "PWD"
_MOST = 4


class Fork:
    """Several ways through a script from one point on."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.start = dict(shell.variables)
        self.cwd = shell.cwd
        self.ends: list[tuple[dict[str, Value], str]] = []

    def branch(self) -> None:
        """The way so far is one of several; the next begins where all of them began."""
        self.ends.append((self.shell.variables, self.shell.cwd))
        self.shell.variables, self.shell.cwd = dict(self.start), self.cwd

    def join(self, *, always: bool = False) -> None:
        """All ways meet again; `always` when one of them is certainly taken."""
        self.branch()
        if always:
            self._meet(self.ends)
        else:
            self._meet([*self.ends, (self.start, self.cwd)])

    def skipped(self) -> None:
        """The way so far was perhaps not taken; what was unknown before stays as it is now."""
        shell = self.shell
        now, cwd = shell.variables, shell.cwd
        before = {name: self.start.get(name, value) for name, value in now.items()}
        self._meet([(before, cwd), (now, cwd)])

    def _meet(self, ends: list[tuple[dict[str, Value], str]]) -> None:
        shell = self.shell
        known = dict(ends[-1][0])
        for name in dict.fromkeys(name for variables, _ in ends for name in variables):
            values: list[Value] = []
            for variables, _ in ends:
                value = variables.get(name, UNSET)
                if value not in values:
                    values.append(value)
            if len(values) > 1:
                shell.forks[name] = values[:_MOST]
                known[name] = UNSET
            else:
                known[name] = values[0]
        shell.variables = known
        folders: list[Value] = list(dict.fromkeys(cwd for _, cwd in ends))
        if len(folders) > 1:
            shell.forks[_FOLDER] = folders[:_MOST]
        shell.cwd = ends[0][1]


def alternatives(shell: Shell, nodes: list[Node]) -> list[Shell]:
    """The shell as it may be where these words are read, for each value in question."""
    text = b" ".join(node.text or b"" for node in nodes)
    used = [
        name
        for name in shell.forks
        if name == _FOLDER or (name.encode() in text and shell.variables.get(name) == UNSET)
    ]
    made: list[Shell] = []
    if not used:
        return made
    for values in itertools.islice(itertools.product(*(shell.forks[name] for name in used)), 16):
        other = shell.copy()
        other.forks = {}
        for name, value in zip(used, values, strict=True):
            if name == _FOLDER:
                other.cwd = str(value)
            else:
                other.variables[name] = value
        made.append(other)
    return made
