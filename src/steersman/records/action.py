"""What an agent wants to do to the world, and what the gate says to it.

An `Action` names resolved, absolute paths: links are followed before anything is decided.
"""

from typing import Any, Literal

from msgspec import Struct

PERSON = "person"  # the rule of a verdict that a person gave
Origin = Literal["tool", "command", "past", "person"]


class Read(Struct, frozen=True, tag_field="action", tag="read"):
    """Look at the content of a file."""

    path: str


class List(Struct, frozen=True, tag_field="action", tag="list"):
    """Look at the names below a folder."""

    path: str


class Search(Struct, frozen=True, tag_field="action", tag="search"):
    """Look for a pattern in a file, or in all files below a folder."""

    path: str
    pattern: str


class Write(Struct, frozen=True, omit_defaults=True, tag_field="action", tag="write"):
    """Give a file new content.

    `before` and `after` are SHA-256 of the content shown in `diff`, so that what was decided on
    is exactly what is written; `before` is empty for a file that does not exist. `origin` tells
    whose effect it is: a tool's own, a command's that was allowed, one that is past because
    the command ran on the folder itself, or a person's undo. `moved_from` is the path of the file
    that is moved here. `opened` when others may write there who could not before.
    """

    path: str
    before: str = ""
    after: str = ""
    diff: str = ""
    origin: Origin = "tool"
    moved_from: str = ""
    opened: bool = False


class Delete(Struct, frozen=True, omit_defaults=True, tag_field="action", tag="delete"):
    """Take away a file, a link or a folder; `before` is the digest of a file's content."""

    path: str
    before: str = ""
    diff: str = ""
    origin: Origin = "tool"


class ChangeMany(Struct, frozen=True, omit_defaults=True, tag_field="action", tag="change_many"):
    """Change many paths below a folder, judged as one.

    `lost` are files whose content no version control has, deleted or `emptied`; `discarded` files
    whose uncommitted changes are thrown away; `examples` names them, the first ones where they are
    many. `precious` counts the lost ones that neither the thread nor another program made,
    `tracked` those of them that git tracks, of which it has another content,
    `touched` the changed or deleted ones that are neither ignored nor made again, `special` pipes,
    sockets and the like. `commits` and other
    `objects` are what git's own history loses; `names` are branches, tags and stashes that go, and
    `unnamed` the commits that nothing else leads to; `hidden` are objects of the history in whose
    place git shows others from now on; `tags` are annotated tags that go, whose commits stay.
    `turn_removed` are all files that the turn has
    deleted or emptied with this, `turn_lost` those that no version control has, without what the
    user agreed to before. `named` when each change is judged by itself as well.
    """

    path: str
    created: int
    changed: int
    deleted: int
    lost: int = 0
    lost_bytes: int = 0
    discarded: int = 0
    examples: tuple[str, ...] = ()
    named: bool = False
    origin: Origin = "tool"
    emptied: int = 0
    commits: int = 0
    names: tuple[str, ...] = ()
    unnamed: int = 0
    hidden: int = 0
    tags: tuple[str, ...] = ()
    objects: int = 0
    turn_removed: int = 0
    turn_lost: int = 0
    turn_bytes: int = 0
    precious: int = 0
    touched: int = 0
    special: int = 0
    tracked: int = 0


class Execute(Struct, frozen=True, omit_defaults=True, tag_field="action", tag="execute"):
    """Run a shell command.

    `outside` when it wants to leave the sandbox; `direct` when it works on the workspace itself
    and not on a view of it, so that its effects can only be recorded. In the sandbox, `writes` are
    paths outside the workspace that it wants to change as well, and `reaches` addresses of this
    machine or its network, as `host:port`; `online` when it wants the machine's whole network.
    `refused` says what it could not do without that, `again` that it was run and would be run
    again. `failed` says how it has just failed, when it would be run again as it is. `means` is the
    command with what git's settings add to its pushes written out, empty where they add nothing,
    and `hosts` are those that a push goes to, as `host:port`: who approves it has agreed to them.
    """

    command: str
    cwd: str
    outside: bool = False
    direct: bool = False
    writes: tuple[str, ...] = ()
    reaches: tuple[str, ...] = ()
    online: bool = False
    refused: tuple[str, ...] = ()
    again: bool = False
    failed: str = ""
    means: str = ""
    hosts: tuple[str, ...] = ()

    @property
    def wants(self) -> bool:
        """Whether it wants more than its sandbox gives."""
        return self.outside or self.online or bool(self.writes or self.reaches)


class Network(Struct, frozen=True, omit_defaults=True, tag_field="action", tag="network"):
    """Reach a host, named as the program named it and not yet looked up.

    For a command that only installs packages, all hosts that its project names are asked about at
    once: `registries`, as `host:port`. `url` is what a tool would only read there, `query`
    what it would search for.
    """

    host: str
    port: int
    registries: tuple[str, ...] = ()
    url: str = ""
    query: str = ""

    @property
    def near(self) -> str:
        """What the host is, if a tool reads from it and only a rule with its name can allow it."""
        if not self.url or self.query:  # an engine is named by the user's own settings
            return ""
        from steersman.records.addresses import out_of_bounds

        return out_of_bounds(self.host)


LISTING = "tools/list"  # the tool that an action names which asks a server for its tools


class McpCall(Struct, frozen=True, omit_defaults=True, tag_field="action", tag="mcp_call"):
    """Call a tool of an MCP server; `effect` is what the server's hints and the rules say of it."""

    server: str
    tool: str
    arguments: dict[str, Any] = {}
    effect: Literal["reads", "writes"] = "writes"


class SpawnAgent(Struct, frozen=True, tag_field="action", tag="spawn_agent"):
    """Let another capsule work on a task."""

    agent: str
    task: str


class Setting(Struct, frozen=True, omit_defaults=True, tag_field="action", tag="setting"):
    """Change one of the user's settings; `before` is its value now, as it is shown."""

    key: str
    value: str
    before: str = ""


Action = (
    Read
    | List
    | Search
    | Write
    | Delete
    | ChangeMany
    | Execute
    | Network
    | McpCall
    | SpawnAgent
    | Setting
)


class Verdict(Struct, frozen=True, omit_defaults=True):
    """The gate's verdict on one action, with the rule that decided.

    `reason` is for a person; `instead` shows the model what to do instead.
    """

    decision: Literal["allow", "ask", "deny"]
    rule: str
    reason: str
    instead: str = ""

    @property
    def source(self) -> str:
        """The rule that decided, as a sentence; none where a person did."""
        return "" if self.rule == PERSON else f"Rule: {self.rule}."
