"""How a process runs a thread, and what a thread keeps of it for the next one."""

from msgspec import Struct

from steersman.records.mcp_tools import Wishes
from steersman.records.settings import Settings

KEPT = ("mode", "model", "trust", "approvals", "sandbox")


class Opening(Struct, frozen=True):
    """How this process runs a thread.

    `attended`: somebody can answer. `yes`: every answer is allow. `thinks`: with a model. `folder`:
    where its workspace is now, if it was moved. `resume`: a turn that waits for an answer goes on.
    `client` answers what MCP servers ask, when the thread works for another program.
    """

    settings: Settings
    attended: bool = False
    yes: bool = False
    thinks: bool = True
    folder: str | None = None
    resume: bool = True
    client: Wishes | None = None
