"""What the shell guard says of commands; nothing is run and nothing is looked up."""

import os

from steersman.governance.guard.judge import judge
from steersman.records.judgement import CommandPlace, Judgement


class Guard:
    """The guard for one workspace and one home; neither folder needs to exist."""

    def __init__(self, workspace: str | None, home: str | None) -> None:
        self._place = CommandPlace(_folder(workspace or os.getcwd()), _folder(home or "~"))

    def judge(self, command: str) -> Judgement:
        """The guard's verdict on a command line."""
        return judge(command, self._place)


def _folder(path: str) -> str:
    return os.path.normpath(os.path.join(os.getcwd(), os.path.expanduser(path)))
