"""Calls of tools in a folder, for operations."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from steersman.host.desk import Desk
from steersman.host.tokens import Holder
from steersman.host.workbench import Asked
from steersman.ports.http.fields import Name

Folder = Annotated[
    str, Meta(min_length=1, max_length=4096, pattern="^/", description="An absolute path.")
]
Path = Annotated[str, Meta(min_length=1, max_length=4096, description="Relative to the workspace.")]
Place = Annotated[int, Meta(ge=1, le=2**53)]
Text = Annotated[str, Meta(max_length=16 << 20)]


class Wanted(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A folder, and a name for the call."""

    workspace: Folder
    id: Name = ""


async def output(
    desk: Desk, caller: Holder, wanted: Wanted, tool: str, reads: bool = True, /, **arguments: Any
) -> Any:
    """What a tool gives; arguments that nobody gave are left out."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return await desk.bench.output(Asked(caller, wanted.workspace, tool, given, wanted.id, reads))


class OneFolder(Struct, frozen=True, forbid_unknown_fields=True):
    """A folder."""

    workspace: Folder
