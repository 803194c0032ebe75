"""What a sandbox refused to the last commands, and what the user is asked so that one runs again.

The question is for exactly what was refused. What was denied is not asked about again by itself
in the same turn.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence

from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.running.command_run import CommandRun
from steersman.operations.running.processes import Running
from steersman.operations.running.refusals import (
    NOTHING,
    Refusals,
    refusals,
    unkept,
    unpushed,
    was_refused_a_push,
)
from steersman.operations.running.symptoms import looks_confined, worth_letting_out
from steersman.operations.tool import Bench
from steersman.records.action import Execute
from steersman.records.profile import Profile

MOST = 50  # commands that are remembered
LATE = "\n[It has ended without the connection. {}.]\n"
AGAIN = "If you allow it now, it is run again"
LATER = "run again: the connection was allowed after it had given up"
TOO_LATE = "allowed after it had given up, so not reached: {}; run it again if needed"
NOT_AGAIN = "not run again by itself"
ROUNDS = 3  # times that one call asks for more
_PROXY = "it does not use the sandbox's proxy"


class Ended(Struct, frozen=True):
    """A command that ended: what it was and what it printed; `refused` are hosts it was refused.

    `denied` when each of these was, by the gate. `dropped` looks for files that it wrote beside
    those that it was given.
    """

    command: str
    cwd: str
    exit_code: int
    output: str
    refused: Sequence[str]
    dropped: Callable[[], Sequence[str]]
    denied: bool = False


class Refused(Struct, frozen=True):
    """Why a command failed in its sandbox, and what exactly could be given to it.

    `unpushed` says how a push gets what it was refused, where this command does not.
    """

    why: str
    exactly: Refusals = NOTHING
    unpushed: str = ""


class More(Struct, frozen=True):
    """What the user gives a command that failed, to be run again as if it had not been run."""

    wanted: Execute
    profile: Profile
    refused: Refused

    def note(self) -> str:
        """What is said of it afterwards."""
        how = "outside it" if self.wanted.outside else "with your permission"
        return f"failed in the sandbox ({self.refused.why}) and was run again {how}"


class SecondChances:
    """What was refused to the commands of one thread."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._known: dict[tuple[str, str], Refused] = {}  # by the command and its folder
        self._denied: set[tuple[int, Refused]] = set()  # by the turn

    async def note(self, ended: Ended, root: str, profile: Profile, level: str) -> Refused | None:
        """Remember what the sandbox refused a command, if that may be why it failed."""
        key = (ended.command, ended.cwd)
        before = self._known.pop(key, None)
        if not profile.sandbox:
            return None
        alone, found = "", NOTHING
        if ended.exit_code or profile.given or was_refused_a_push(ended.output):
            alone, found = await asyncio.to_thread(_looked, ended, root, profile, level)
        confined = looks_confined(
            ended.exit_code, ended.output, profile, ended.refused, denied=ended.denied
        )
        why = alone or confined
        if found == NOTHING and not worth_letting_out(why):
            return None
        if before is not None and found != NOTHING:
            found = found.beside(before.exactly)  # what was given once is wanted again
        why = why if found == NOTHING else f"it {found.sentence(self._home)}"
        self._known[key] = Refused(why, found, alone)
        for oldest in list(self._known)[:-MOST]:
            del self._known[oldest]
        return self._known[key]

    def wanted(self, plain: Execute) -> Execute:
        """A command that asks for more, with exactly what was refused to it where that is known."""
        known = self._known.get((plain.command, plain.cwd))
        if known is None:
            return plain
        exactly, line = known.exactly, short(plain.command)
        if exactly == NOTHING:
            told = f"`{line}` failed in the sandbox, perhaps because {known.why}"
            return replace(plain, refused=(told,), again=True)
        told = f"`{line}` {exactly.sentence(self._home)}"
        return Execute(
            plain.command,
            plain.cwd,
            writes=exactly.writes,
            reaches=exactly.reaches,
            online=bool(exactly.hosts),
            refused=(f"{told}: {_PROXY}" if exactly.hosts else told,),
            again=True,
        )

    def asks(self, refused: Refused, bench: Bench, given: Refused | None = None) -> bool:
        """Whether the user is asked for it now; of what was given once, only for more."""
        escalate = bench.profile.escalate
        if given is not None and refused.exactly in (NOTHING, given.exactly):
            return False
        if escalate == "no":
            return False
        if refused.exactly == NOTHING and (refused.unpushed or escalate != "anything"):
            return False
        return escalate == "always" or (bench.lane.turn, refused) not in self._denied

    def deny(self, refused: Refused, bench: Bench) -> None:
        """The user does not want it; in later turns they are asked again."""
        turn = bench.lane.turn
        self._denied = {one for one in self._denied if one[0] == turn} | {(turn, refused)}


def _looked(ended: Ended, root: str, profile: Profile, level: str) -> tuple[str, Refusals]:
    """Whether only a push was refused, in words; and all that was."""
    place = (ended.cwd, root, profile)
    alone = unpushed(ended.command, ended.output, *place)
    found = unkept(ended.dropped(), root, profile)
    if not ended.exit_code:
        return alone, found
    weaker = level != "full"
    named = refusals(ended.output, *place, ended.refused, command=ended.command, weaker=weaker)
    return alone, found.beside(named)


def short(command: str) -> str:
    """A command in a few words, for a sentence."""
    line = command.strip().split("\n")[0]
    return line if len(line) <= 60 else f"{line[:59]}…"


async def either(*waiting: Coroutine[object, object, object]) -> None:
    """Wait for the first of several."""
    tasks = [asyncio.create_task(one) for one in waiting]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


class Late(Struct, frozen=True):
    """Hosts that were allowed only after a command had given up; whether to run it `again` now.

    If not by itself, the note says why.
    """

    again: bool = False
    note: str = ""


async def too_late(running: Running, run: CommandRun, bench: Bench, *, once: bool) -> Late:
    """What became of hosts that the user was asked about when the command had given up.

    An open question is waited for, however the command ended: in a pipe nobody sees that a part of
    it failed. If it succeeded and was allowed them meanwhile, it is not for us to say that it needs
    them. `once` it was run again, it is not any more.
    """
    if running.halted or running.state.word == "killed":
        run.give_up(bench)
        return Late()
    asked = run.asking
    wanted = bool(asked or running.state.exit_code)
    remains = await run.remains(bench) if wanted else ""
    why = NOT_AGAIN + f", because {remains}" * bool(remains) if once or remains else ""
    if asked:
        bench.progress(LATE.format(f"It is {why}" if why else AGAIN))
    hosts = await run.too_late()
    if not hosts:
        return Late()
    return Late(wanted and not why, TOO_LATE.format(", ".join(hosts)) + f" ({why})" * bool(why))
