"""What can be done in a folder, by name: the one list that the command line, the terminal's palette
and the MCP server are made from."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from steersman.identity.mcp_servers import find as find_servers
from steersman.identity.settings import config_file
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.guardian import Guardian
from steersman.operations.running.processes import Processes
from steersman.operations.tools import standard_tools
from steersman.operations.tools.web_search import web_search
from steersman.operations.workspace import Workspace
from steersman.records.configure import Configure
from steersman.records.dialogue import ToolSpec
from steersman.records.mcp_tools import Wishes
from steersman.records.tool_names import ALSO
from steersman.threads.external_tools import ExternalTools
from steersman.threads.resources import Machine, Terms, WorkspaceResources

if TYPE_CHECKING:
    from steersman.identity.extensions import Found as FoundTools


def find_tools(root: str, surroundings: Mapping[str, str], *, trusted: bool) -> "FoundTools | None":
    """Files that are tools; most have none, and need nothing loaded."""
    theirs = trusted and os.path.isdir(os.path.join(root, ".steersman", "tools"))
    if not theirs and not os.path.isdir(config_file(surroundings).with_name("tools")):
        return None
    from steersman.identity.extensions import find

    found = find(root, surroundings, trusted=trusted)
    return found if found.files or found.problems else None


def _nobody() -> Configure:
    raise AssertionError("what is only listed is not called")


def offered(
    workspace: Workspace, surroundings: Mapping[str, str], state: str, *, trusted: bool
) -> tuple[ToolSpec, ...]:
    """What can be done in a folder, by name: the one list that every port is made from.

    Nothing is started, and no thread open.
    """
    from steersman.operations.tools.host_tools import host_tools

    root, guardian = workspace.root, Guardian()
    here = WorkspaceResources(Machine(state, surroundings), Terms(root), guardian)
    runs = CommandRuns(Journal(root, Objects(Path(state, "objects"))), state)
    configured = find_servers(root, surroundings, trusted=trusted)
    reach = ExternalTools(here, here.companions, configured, lambda _: Wishes())
    processes = Processes(Path(state, "output"), guardian)
    tools = standard_tools({}, processes, runs)
    own = host_tools({}, processes, runs, _nobody)
    specs = [one.spec() for one in (*tools, *web_search(surroundings), *reach.tools(), *own)]
    by_name = {spec.name: spec for spec in specs}
    specs += [replace(by_name[meant], name=name) for name, meant in ALSO.items()]
    if (found := find_tools(root, surroundings, trusted=trusted)) is not None:
        from steersman.threads.extensions import listed

        specs += [spec for _, spec in listed(found, state)]
    return tuple(specs)
