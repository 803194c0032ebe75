"""Which commands are run a second time by themselves, over a copy: what a view could not serve.

Only what is certain to have had no effect is repeated. A command that was killed is not: nobody
knows how far it came.
"""

import signal

from steersman.operations.running.command_run import CommandRun
from steersman.operations.running.processes import Running

MOST = 50  # commands that are remembered
UNMADE = "ran on a copy: a view of the workspace could not be mounted"
AGAIN = "ran a second time, on a copy: folders cannot be renamed over a view"
NOT_AGAIN = (
    "it seems to have failed because folders cannot be renamed over a view of the workspace; "
    "it was not run a second time, because the first may have had effects outside the sandbox; "
    "if it can safely be repeated, run the same command again: it will then work on a copy"
)
KILLED = "it was killed before it was done, and was not run again"

Key = tuple[str, str]  # a command and its folder


class Repeats:
    """What is repeated of one thread's commands, and which of them need a copy from now on."""

    def __init__(self) -> None:
        self._stumbled: dict[Key, None] = {}

    def needs_copy(self, key: Key) -> bool:
        """Whether a view could not serve this command before."""
        return key in self._stumbled

    def wanted(self, key: Key, run: CommandRun, ended: Running, notes: list[str]) -> bool:
        """Whether a command that has ended is run again over a copy; the notes say why, or not."""
        state = ended.state
        if state.word == "killed":
            if state.number == signal.SIGKILL and not ended.halted:
                notes.append(KILLED)
            return False
        if state.number == 0 or ended.halted:
            return False
        if run.unmade(ended.unseen):
            notes.append(UNMADE)
            return True
        if not run.stumbled(state.number, ended.output.text()):
            return False
        if run.contained:
            notes.append(AGAIN)
            return True
        notes.append(NOT_AGAIN)
        self._stumbled[key] = None
        for oldest in list(self._stumbled)[:-MOST]:
            del self._stumbled[oldest]
        return False
