"""The tools every agent has; a new tool is one module here and one name in this list."""

from collections.abc import Callable, Mapping
from typing import Any

from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.processes import Processes
from steersman.operations.tool import Tool
from steersman.operations.tools.apply_patch import ApplyPatch
from steersman.operations.tools.edit_files import EditFiles
from steersman.operations.tools.list_files import ListFiles
from steersman.operations.tools.list_processes import ListProcesses
from steersman.operations.tools.read_command_output import ReadCommandOutput
from steersman.operations.tools.read_file import ReadFile
from steersman.operations.tools.run_command import RunCommand
from steersman.operations.tools.search_files import SearchFiles
from steersman.operations.tools.search_pattern import SearchPattern
from steersman.operations.tools.signal_process import SignalProcess
from steersman.operations.tools.status import Situation, Status
from steersman.operations.tools.update_todo import UpdateTodo
from steersman.operations.tools.web_fetch import WebFetch
from steersman.operations.tools.write_file import WriteFile


def standard_tools(
    environ: Mapping[str, str],
    processes: Processes,
    runs: CommandRuns,
    situation: Callable[[], Situation] = Situation,
) -> list[Tool[Any]]:
    """The tools, in the order a model sees them; programs they start get `environ`."""
    return [
        Status(situation), ListFiles(environ), ReadFile(), SearchFiles(environ),
        SearchPattern(environ), EditFiles(), ApplyPatch(), WriteFile(),
        RunCommand(environ, processes, runs), ReadCommandOutput(processes),
        ListProcesses(processes), SignalProcess(processes), UpdateTodo(), WebFetch(),
    ]  # fmt: skip
