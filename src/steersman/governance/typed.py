"""What people say by typing a command: what its line does by itself, they need not be asked about.

The guard reads which files the line writes and which hosts it reaches. What a line only names, such
as a script, a target, an address of mail or a file that is shown, says neither.
"""

import os

import msgspec
from msgspec import Struct

from steersman.governance.cases import Case
from steersman.governance.policy import Circumstances
from steersman.records.action import Delete, Execute, Network, Verdict, Write
from steersman.records.judgement import CommandPlace, Fact
from steersman.records.patterns import pattern
from steersman.records.protection import inside

_URL = pattern(r"(?<![\w+.-])(https?|ssh|git|ftp|wss?)://(?:[^\s/@'\"]*@)?([\w.-]+)(?::(\d+))?")
_PORTS = {"http": (80, 443), "ws": (80, 443), "ssh": (22,), "git": (9418,), "ftp": (21,)}
_USUAL = (22, 80, 443)  # of a host that is named without more


class Typed(Struct, frozen=True):
    """A line that someone typed, and the folder they want it run in, as given."""

    line: str
    cwd: str = "."


class Said(Struct, frozen=True):
    """What a typed line says of itself."""

    line: str
    cwd: str
    workspace: str
    facts: tuple[Fact, ...] = ()


def said_by(typed: Typed, where: Circumstances) -> Said:
    """What the guard reads in a typed line."""
    from steersman.governance.guard.judge import judge

    cwd = os.path.normpath(os.path.join(where.workspace, typed.cwd))
    found = judge(typed.line, CommandPlace(where.workspace, where.home, cwd))
    return Said(typed.line, cwd, where.workspace, found.facts)


def answered(case: Case, said: Said) -> Case:
    """A case of a typed command: allowed where the line says what a person would be asked.

    They have said that it is run, where, and what it may lose, which undo brings back. What else
    its programs do, they have not said: to change what others run, to reach other hosts, to leave
    the sandbox, to run something else or again.
    """
    action = case.action
    match action:
        case Execute():
            same = (action.command, action.cwd) == (said.line, said.cwd)
            told = same and not (action.outside or action.again or action.failed)
        case Network():
            told = not action.registries and action.port in _ports(action.host.lower(), said.facts)
        case Write() | Delete():
            told = case.verdict.rule == "effects.loss" or _changes(action, said)
        case _:
            told = case.verdict.rule == "effects.loss"
    if case.verdict.decision != "ask" or not told:
        return case
    return msgspec.structs.replace(case, verdict=Verdict("allow", "person.typed", "you typed it"))


def _ports(host: str, facts: tuple[Fact, ...]) -> set[int]:
    """The ports of a host that a line reaches."""
    urls = [found for fact in facts for word in fact.words for found in _URL.findall(word)]
    ports: set[int] = set()
    for scheme, name, port in urls:
        if name.lower() == host:
            ports.update((int(port),) if port else _PORTS.get(scheme, (443,)))
    if ports:
        return ports
    for name in (name.lower() for fact in facts for name in fact.network):
        named, _, port = name.rpartition(":")
        if name == host:
            ports.update(_USUAL)
        elif named == host and port.isdigit():
            ports.add(int(port))
    return ports


def _changes(action: Write | Delete, said: Said) -> bool:
    """Whether a line itself changes a file; never all that the workspace is."""
    if inside(said.workspace, action.path):
        return False
    gone = [path for fact in said.facts for path in fact.deletes]
    if isinstance(action, Delete):
        return any(inside(action.path, path) for path in gone if path != said.workspace)
    return any(action.path in fact.writes for fact in said.facts)
