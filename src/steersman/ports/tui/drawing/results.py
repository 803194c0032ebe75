"""What each kind of tool result says: a few words for the head of its block, and rows below.

One function for each kind. It gets the call's arguments and the result's output, both from
outside, and takes whatever it finds: an output of another shape is shown as JSON.
"""

from collections.abc import Callable, Mapping

from steersman.ports.tui.drawing.bodies import JSON, Body
from steersman.ports.tui.drawing.doing import (
    answered,
    anything,
    command,
    edited,
    processes,
    said,
    todo,
    tools,
    written,
)
from steersman.ports.tui.drawing.look import Palette
from steersman.ports.tui.drawing.looking import (
    diagnostics,
    listing,
    ranked,
    read_file,
    references,
    search,
    symbols,
)
from steersman.records.tool_names import ASK_USER

RENDERERS: Mapping[str, Callable[[Mapping[str, JSON], Mapping[str, JSON], Palette], Body]] = {
    "workspace_read_file": read_file,
    "workspace_search_files": search,
    "workspace_search_pattern": search,
    "workspace_list_files": listing,
    "workspace_run_command": command,
    "workspace_read_command_output": command,
    "workspace_signal_process": command,
    "workspace_list_processes": processes,
    "workspace_edit_files": edited,
    "workspace_apply_patch": edited,
    "workspace_propose_refactoring": edited,
    "workspace_write_file": written,
    "workspace_get_diagnostics": diagnostics,
    "workspace_get_symbols_overview": symbols,
    "workspace_find_symbol": symbols,
    "workspace_find_declaration": symbols,
    "workspace_find_references": references,
    "workspace_ranked_context": ranked,
    "workspace_update_todo": todo,
    ASK_USER: answered,
    "mcp_call_tool": said,
    "mcp_list_tools": tools,
}


def body_of(tool: str, arguments: Mapping[str, JSON], output: JSON, palette: Palette) -> Body:
    """What is shown of an output; whatever a renderer cannot read is shown as it is."""
    renderer = RENDERERS.get(tool)
    if renderer is None and isinstance(output, dict) and {"source", "content"} <= output.keys():
        renderer = said
    if renderer is None or not isinstance(output, dict):
        return anything(arguments, output, palette)
    try:
        return renderer(arguments, output, palette)
    except (TypeError, ValueError, AttributeError, KeyError):  # an output of another version
        return anything(arguments, output, palette)
