"""What a server's tool may do to the world, judged by its hints, its name and the user's rules.

Pure. The user's patterns come first. A server's own word that a tool only reads is believed of
servers the user set up, and not of those of a folder; not of a tool that says it reaches out
to the open world (what it is asked would leave this machine unseen); and not of a tool whose name
says otherwise. Whoever says nothing may write.
"""

import re
from collections.abc import Collection
from fnmatch import fnmatchcase

from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Effect, RemoteTool

# The first of these in a tool's name shows what it does; nouns such as "file" tell nothing.
WRITING = frozenset((
    "add", "append", "apply", "approve", "archive", "assign", "book", "buy", "cancel", "clear",
    "click", "clone", "close", "commit", "copy", "create", "delete", "deploy", "destroy", "disable",
    "drop", "edit", "enable", "eval", "evaluate", "exec", "execute", "fork", "import", "insert",
    "install", "invite", "kill", "merge", "modify", "move", "mutate", "overwrite", "patch", "pay",
    "post", "publish", "purge", "push", "put", "reboot", "remove", "rename", "replace", "reset",
    "restart", "restore", "revert", "rm", "rollback", "run", "save", "send", "set", "shell",
    "start", "stop", "store", "submit", "terminate", "transfer", "truncate", "uninstall", "unlink",
    "unset", "update", "upload", "upsert", "write",
))  # fmt: skip
READING = frozenset((
    "check", "count", "describe", "diff", "fetch", "find", "get", "grep", "head", "inspect", "list",
    "lookup", "ls", "peek", "query", "read", "resolve", "retrieve", "search", "select", "show",
    "stat", "status", "tail", "tree", "validate", "view",
))  # fmt: skip
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# Tools that change code: they are offered as proposals that pass the gate, never as they are.
SYMBOL_WRITERS = frozenset(
    {
        "replace_symbol_body",
        "insert_before_symbol",
        "insert_after_symbol",
        "rename_symbol",
        "safe_delete_symbol",
    }
)
# What else Serena has that would change files, run programs, or change what it works on.
SERENA_WRITERS = frozenset((
    "replace_content", "replace_in_files", "replace_lines", "delete_lines", "insert_at_line",
    "replace_regex", "create_text_file", "write_memory", "edit_memory", "delete_memory",
    "rename_memory", "execute_shell_command", "serena_repl", "onboarding", "activate_project",
    "remove_project", "switch_modes", "restart_language_server", "open_dashboard",
))  # fmt: skip
_SERENAS_OWN = ({"get_symbols_overview", "find_referencing_symbols"}, {"serena_repl"})


def effect(tool: RemoteTool, server: Server, *, personal: bool) -> Effect:
    """Whether a call counts as looking or as changing; `personal` when no folder brought it."""
    said = named(tool.name, server)
    if said is not None:
        return said
    hints = tool.hints
    claims = hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True
    reaches_out = hints.get("openWorldHint") is True
    believed = claims and personal and not reaches_out and not sounds_writing(tool.name)
    return "reads" if believed else "writes"


def named(tool: str, server: Server) -> Effect | None:
    """What the user's patterns say of a tool; that it writes counts more than that it reads."""
    if any(fnmatchcase(tool, pattern) for pattern in server.writes):
        return "writes"
    return "reads" if any(fnmatchcase(tool, pattern) for pattern in server.reads) else None


def sounds_writing(name: str) -> bool:
    """Whether the first verb of a name is one that changes something."""
    for word in map(str.lower, _WORD.findall(name)):
        if word in WRITING:
            return True
        if word in READING:
            return False
    return False


def is_serena(server: Server, tools: Collection[str] = ()) -> bool:
    """Whether a server is Serena: it is called so, started so, or has its tools."""
    words = (server.name, server.command, *server.arguments)
    return any("serena" in word.lower() for word in words) or any(
        own <= set(tools) for own in _SERENAS_OWN
    )


def hidden(tool: str, server: Server, tools: Collection[str] = ()) -> str:
    """Why a tool is not offered as it is; empty when it is."""
    writer = tool in SYMBOL_WRITERS or (tool in SERENA_WRITERS and is_serena(server, tools))
    if not writer:
        return ""
    return (
        f"{tool} of the MCP server {server.name} is not offered as it is, because it would change "
        "files past the gate. Use workspace_propose_refactoring, or the other workspace_… tools."
    )
