"""What a thread has changed so far, as its log shows it."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.undoing import Entry, standing, void
from steersman.records.action import ChangeMany, Delete, Write
from steersman.records.change import Change
from steersman.records.message import Checkpoint, ConfirmRequest, ConfirmResponse, Message
from steersman.store.log import Lane, to_message

_KINDS = ("checkpoint", "confirm_request", "confirm_response")


class Made(Struct, frozen=True):
    """An entry of the journal, and the call that made it."""

    entry: Entry
    call: str | None


class LoggedPast:
    """The changes before a call, read from the log when someone asks for them.

    What others do while its turn runs is not of the turn: calls of people, and commands of earlier
    turns that continue in the background. Calls of people are one turn from the end of one to the
    end of the next.
    """

    def __init__(self, journal: Journal, lane: Lane) -> None:
        self._journal = journal
        self._log = lane.log
        self._turn = lane.turn
        self._until = lane.log.head
        self._thread: Sequence[Change] | None = None

    def turn(self) -> Sequence[Change]:
        """What this turn changed, was not undone, and nobody agreed to, in order."""
        begun = self._begun()
        # A call of a person may have been agreed to before the turn beside it ended.
        messages = filter(self._is_own, self._messages(_KINDS, after=begun if self._turn else 0))
        made: list[Made] = []
        asked: dict[str | None, ConfirmRequest] = {}
        agreed: set[str] = set()  # calls whose next changes were agreed to as a whole
        paths: set[tuple[str | None, str]] = set()
        for message in messages:
            match message.body:
                case ConfirmRequest() as request:
                    asked[message.corr] = request
                case ConfirmResponse(decision="allow") if message.corr in asked:
                    request = asked[message.corr]
                    if any(isinstance(action, ChangeMany) for action in request.actions):
                        made.clear()
                        agreed.add(request.call)
                    paths |= {(request.call, self._journal.named(action.path))
                              for action in request.actions
                              if isinstance(action, Write | Delete)}  # fmt: skip
                case Checkpoint(cause="effect") if message.corr in agreed:
                    agreed.discard(message.corr)
                case Checkpoint() if message.seq > begun:
                    made += [
                        Made(entry, message.corr) for entry in self._journal.entries([message])
                    ]
                case _:
                    continue
        in_force = set(standing(one.entry for one in made).effects)
        stand = [one for one in made if one.entry.seq in in_force]
        return [change for one in stand for change in one.entry.changes
                if (one.call, change.path) not in paths]  # fmt: skip

    def agreed(self, call: str) -> set[str]:
        """The paths that a person agreed to let this call change."""
        asked: dict[str | None, ConfirmRequest] = {}
        paths: set[str] = set()
        for message in self._messages(_KINDS[1:], after=self._begun() if self._turn else 0):
            match message.body:
                case ConfirmRequest() as request if request.call == call:
                    asked[message.corr] = request
                case ConfirmResponse(decision="allow") if message.corr in asked:
                    paths |= {self._journal.named(action.path)
                              for action in asked[message.corr].actions
                              if isinstance(action, Write | Delete)}  # fmt: skip
        return paths

    def thread(self) -> Sequence[Change]:
        """What the whole thread changed, in order."""
        if self._thread is None:
            entries = self._journal.entries(self._messages(("checkpoint",)))
            never = void(entries)
            self._thread = [change for entry in entries if entry.seq not in never
                            for change in entry.changes]  # fmt: skip
        return self._thread

    def perhaps(self, *names: str) -> bool:
        """Whether the thread may have changed a path with one of these in it.

        That is cheaper than to see all.
        """
        marks = (*map(str.encode, names), b'"manifest":')  # what is kept elsewhere may have any
        rows = self._log.store.read(self._log.thread, until=self._until, kinds=("checkpoint",))
        return any(mark in row.body for row in rows for mark in marks)

    def _is_own(self, message: Message) -> bool:
        """Whether a message is of this turn; an undo is of all that it undoes."""
        undo = isinstance(message.body, Checkpoint) and message.body.cause != "effect"
        return undo or message.turn == self._turn

    def _begun(self) -> int:
        """Where this turn began: what the log says before that of its number is of no weight."""
        kinds = ("turn_start",) if self._turn else ("turn_end",)
        begun = 0
        for row in self._log.store.read(self._log.thread, until=self._until, kinds=kinds):
            begun = row.seq if row.turn == self._turn or not self._turn else begun
        return begun

    def _messages(self, kinds: Sequence[str], after: int = 0) -> Iterator[Message]:
        rows = self._log.store.read(self._log.thread, after=after, until=self._until, kinds=kinds)
        return (to_message(self._log.thread, row) for row in rows)
