"""What the application itself can do, for people and for other agents: the port that they use shows
it. The agent of a thread is not offered these; it has tools of its own for its work."""

from collections.abc import Callable, Mapping
from typing import Any

from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.processes import Processes
from steersman.operations.tool import Tool
from steersman.operations.tools.change_setting import ChangeSetting
from steersman.operations.tools.open_file import OpenFile
from steersman.operations.tools.open_terminal import OpenTerminal, TerminalRunner
from steersman.operations.tools.read_bytes import ReadBytes
from steersman.operations.tools.show_diff import ShowDiff
from steersman.operations.tools.talking import Talking
from steersman.operations.tools.vcs_status import GetVcsStatus
from steersman.records.configure import Configure


def host_tools(
    environ: Mapping[str, str],
    processes: Processes,
    runs: CommandRuns,
    configure: Callable[[], Configure],
) -> list[Tool[Any]]:
    """The tools, in the order in which they are listed."""
    git = Talking(environ, processes, runs)
    return [
        OpenFile(), ReadBytes(), ShowDiff(git), GetVcsStatus(git), ChangeSetting(configure),
        OpenTerminal(TerminalRunner(environ, processes, runs)),
    ]  # fmt: skip
