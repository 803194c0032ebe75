"""What a person denied a command in a turn: nobody asks them for the same in another way."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from steersman.governance.cases import Case
from steersman.records.action import PERSON, Action, Execute, Verdict

MOST = 200  # calls whose commands are known; some continue when their call is over


class SaidNo:
    """The commands of a thread, and the hosts that a person denied them in the last turn."""

    def __init__(self) -> None:
        self._commands: dict[str, Execute] = {}  # by the call
        self._turn = 0
        self._nos: dict[object, Verdict] = {}  # in that turn, by a host or by a command

    def begin(self, call: str, actions: Sequence[Action]) -> None:
        """Remember which command a call runs."""
        for action in actions:
            if isinstance(action, Execute):
                self._commands.pop(call, None)
                self._commands[call] = action
        for oldest in list(self._commands)[:-MOST]:
            del self._commands[oldest]

    def command(self, call: str) -> str:
        """The command that a call runs; empty where it runs none."""
        known = self._commands.get(call)
        return known.command if known else ""

    def note(self, call: str, turn: int, places: Iterable[str], guidance: str) -> None:
        """A person said no to hosts, as `host:port`, that a call wanted to reach."""
        if turn != self._turn:
            self._turn, self._nos = turn, {}
        for place in places:
            no = Verdict("deny", PERSON, f"the user said no to {place}", guidance)
            self._nos[place] = self._nos[place.rpartition(":")[0]] = no
            if known := self._commands.get(call):
                self._nos[known.command, known.cwd] = no

    def judged(self, case: Case, turn: int) -> Case:
        """A case; a no where the user would be asked to let a command out for what they denied."""
        action = case.action
        if turn != self._turn or case.verdict.decision != "ask" or not isinstance(action, Execute):
            return case
        if not (action.outside or action.online):
            return case
        facts = case.judgement.facts if case.judgement else ()
        named = [name for fact in facts for name in fact.network]
        nos = (self._nos.get(one) for one in ((action.command, action.cwd), *named))
        no = next(filter(None, nos), None)
        return replace(case, verdict=no) if no else case
