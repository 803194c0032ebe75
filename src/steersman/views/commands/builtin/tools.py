"""`/mcp` and `/skills`: what there is besides the host's own tools, switched on and off."""

from steersman.identity import mcp_files, mcp_servers, skills
from steersman.identity.mcp_servers import Configured
from steersman.records.errors import UsageProblem
from steersman.records.mcp_tools import Condition
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.commands.words import cell
from steersman.views.text import counted

SWITCH = ("enable", "disable")


async def mcp(stage: Stage, arguments: str) -> None:
    """How MCP servers do; or switch one."""
    words = arguments.split()
    found = _configured(stage)
    if words:
        _switch_server(stage, found, words)
        return
    states = {one.server: one for one in _conditions(stage)}
    lines = []
    for server in found.servers:
        state = states.get(server.name)
        lines.append(f"- **{cell(server.name)}** {_condition(state, enabled=server.enabled)}")
    lines += [f"- ! {cell(problem, 200)}" for problem in found.problems]
    if not lines:
        stage.tell("No MCP servers. `steer mcp templates` shows known ones.")
        return
    stage.show("MCP servers", "\n".join(lines))


def _configured(stage: Stage) -> Configured:
    seat = stage.seat
    trusted = seat.host.permissions.folder(seat.folder).loads
    return mcp_servers.find(seat.folder, stage.environ, trusted=trusted)


def _conditions(stage: Stage) -> list[Condition]:
    seat = stage.seat
    if seat.thread is None or seat.watching:
        return []
    gateway = seat.host.servers(seat.id)
    return gateway.conditions() if gateway is not None else []


def _condition(state: Condition | None, *, enabled: bool) -> str:
    if not enabled:
        return "switched off"
    if state is None or state.state == "disabled":
        return "not started; used from the next thread or /resume on" if state else "not started"
    tools = f" · {counted(state.tools, 'tool')}" if state.tools >= 0 else ""
    reason = f" · {cell(state.reason, 200)}" if state.reason else ""
    words = {"idle": "not started", "starting": "starting", "running": "running"}
    return f"{words.get(state.state, state.state)}{tools}{reason}"


def _switch_server(stage: Stage, found: Configured, words: list[str]) -> None:
    if len(words) != 2 or words[0] not in SWITCH:
        raise UsageProblem(
            "That is not understood.", try_this="/mcp, /mcp enable NAME, or /mcp disable NAME."
        )
    verb, name = words
    if found.get(name) is None:
        known = ", ".join(one.name for one in found.servers) or "none"
        raise UsageProblem(f"There is no MCP server “{name}”.", f"There are: {known}.")
    mcp_files.switch(mcp_servers.user_file(stage.environ), name, on=verb == "enable")
    after = _configured(stage).get(name)
    if verb == "enable" and after is not None and not after.enabled:
        raise UsageProblem(f"{name} is still switched off.", f"{after.source} says so.")
    stage.tell(f"{name} is {verb}d from the next time a thread is opened.")


def _servers(stage: Stage, _: str) -> list[Choice]:
    return [
        Choice(f"{'disable' if one.enabled else 'enable'} {one.name}")
        for one in _configured(stage).servers
    ]


async def shelf(stage: Stage, arguments: str) -> None:
    """The skills; choosing one names it in what is written."""
    words = arguments.split()
    found = _shelf(stage)
    off = skills.disabled(stage.seat.host.store, found)
    if words:
        if len(words) != 2 or words[0] not in SWITCH:
            raise UsageProblem(
                "That is not understood.",
                try_this="/skills, /skills enable NAME, or /skills disable NAME.",
            )
        name = found.get(words[1]).name
        skills.switch(stage.seat.host.store, name, on=words[0] == "enable")
        stage.tell(f"The skill {name} is {words[0]}d.")
        return
    for problem in found.problems:
        stage.tell(problem)
    if not found.skills:
        stage.tell("No skills. `steer skills install PATH` adds one.")
        return
    rows = [
        Row(one.name, one.name + (" (switched off)" if one.name in off else ""), one.description)
        for one in found.skills
    ]
    chosen = await stage.pick("Skills", rows)
    if chosen in off:
        stage.tell(f"The skill {chosen} is switched off: /skills enable {chosen}")
    elif chosen:
        stage.compose(f"${chosen} ")


def _shelf(stage: Stage) -> skills.Shelf:
    seat = stage.seat
    trusted = seat.host.permissions.folder(seat.folder).loads
    return skills.find(seat.folder, stage.environ, trusted=trusted)


def _skills(stage: Stage, _: str) -> list[Choice]:
    found = _shelf(stage)
    off = skills.disabled(stage.seat.host.store, found)
    return [
        Choice(f"{'enable' if one.name in off else 'disable'} {one.name}", one.description)
        for one in found.skills
    ]


COMMANDS = (
    Command(
        "mcp",
        "MCP servers and how they do.",
        mcp,
        usage="[enable|disable NAME]",
        complete=_servers,
        while_working=True,
    ),
    Command(
        "skills",
        "Skills; choose one for what you write.",
        shelf,
        usage="[enable|disable NAME]",
        complete=_skills,
        while_working=True,
    ),
)
