"""`/mcp` and `/skills`: what there is besides the host's own tools, switched on and off."""

from collections.abc import Collection, Sequence

from steersman.host import mcp as servers
from steersman.host import skills
from steersman.host.mcp import Usable
from steersman.records.errors import UsageProblem
from steersman.records.mcp_tools import Condition
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.commands.words import cell
from steersman.views.text import counted

SWITCH = ("enable", "disable")
HERE = ("on", "off")  # in this thread alone


async def mcp(stage: Stage, arguments: str) -> None:
    """How MCP servers do; or switch one."""
    words = arguments.split()
    if words:
        _switch_server(stage, words)
        return
    found = _configured(stage)
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


def _configured(stage: Stage) -> Usable:
    return servers.usable(stage.seat.host, stage.seat.folder, stage.environ)


def _conditions(stage: Stage) -> list[Condition]:
    seat = stage.seat
    if not seat.here:
        return []
    gateway = seat.host.servers(seat.id)
    return gateway.conditions() if gateway is not None else []


def _condition(state: Condition | None, *, enabled: bool) -> str:
    if not enabled:
        return "disabled"
    if state is None or state.state == "disabled":
        return "not started; used from the next thread or /resume on" if state else "not started"
    tools = f" · {counted(state.tools, 'tool')}" if state.tools >= 0 else ""
    reason = f" · {cell(state.reason, 200)}" if state.reason else ""
    words = {"idle": "not started", "starting": "starting", "running": "running"}
    return f"{words.get(state.state, state.state)}{tools}{reason}"


def _switch_server(stage: Stage, words: list[str]) -> None:
    name, on = _switched("mcp", words)
    servers.switch(name, stage.seat.folder, stage.environ, on=on)
    done = "enabled" if on else "disabled"
    stage.tell(f"{name} is {done} from the next time a thread is opened.")


def _switched(command: str, words: list[str], more: Sequence[str] = ()) -> tuple[str, bool]:
    """The name after `enable` or `disable`, and which of them it was."""
    if len(words) != 2 or words[0] not in SWITCH:
        uses = [f"/{command}", *(f"/{command} {word} NAME" for word in (*SWITCH, *more))]
        raise UsageProblem(
            "That is not a known option.", try_this=f"{', '.join(uses[:-1])}, or {uses[-1]}."
        )
    return words[1], words[0] == "enable"


def _servers(stage: Stage, _: str) -> list[Choice]:
    return [
        Choice(f"{'disable' if one.enabled else 'enable'} {one.name}")
        for one in _configured(stage).servers
    ]


async def shelf(stage: Stage, arguments: str) -> None:
    """The skills; choosing one names it in what is written."""
    words = arguments.split()
    if words:
        if words[0] in HERE and len(words) == 2:
            await _switch_here(stage, words[1], on=words[0] == "on")
            return
        name, on = _switched("skills", words, HERE)
        skills.switch(stage.seat.host, stage.seat.folder, stage.environ, name, on=on)
        stage.tell(f"The skill {name} is {'enabled' if on else 'disabled'}.")
        return
    known = _known(stage)
    found, off = known.shelf, known.off
    here = stage.seat.settings.skills_off
    for problem in found.problems:
        stage.tell(problem)
    if not found.skills:
        stage.tell("No skills. `steer skills install PATH` adds one.")
        return
    rows = [
        Row(one.name, one.name + _state(one.name, off, here), one.description)
        for one in found.skills
    ]
    chosen = await stage.pick("Skills", rows)
    if chosen in off:
        stage.tell(f"The skill {chosen} is disabled: /skills enable {chosen}")
    elif chosen in here:
        stage.tell(f"The skill {chosen} is off in this thread: /skills on {chosen}")
    elif chosen:
        stage.compose(f"${chosen} ")


def _state(name: str, off: Collection[str], here: Collection[str]) -> str:
    if name in off:
        return " (disabled)"
    return " (off in this thread)" if name in here else ""


async def _switch_here(stage: Stage, name: str, *, on: bool) -> None:
    """Switch a skill for this thread alone, from the next model call on."""
    seat, known = stage.seat, _known(stage)
    if on and name in known.off:
        raise UsageProblem(
            f"The skill {name} is disabled for all threads.", try_this=f"/skills enable {name}"
        )
    if not on:
        known.shelf.get(name)
    left = tuple(one for one in seat.settings.skills_off if one != name)
    await seat.change(skills_off=left if on else (*left, name))
    stage.tell(f"The skill {name} is {'on' if on else 'off'} in this thread.")


def _known(stage: Stage) -> skills.Skills:
    return skills.find(stage.seat.host, stage.seat.folder, stage.environ)


def _skills(stage: Stage, _: str) -> list[Choice]:
    known, here = _known(stage), stage.seat.settings.skills_off
    return [
        Choice(f"{word} {one.name}", one.description)
        for one in known.shelf.skills
        for word in (
            "enable" if one.name in known.off else "disable",
            "on" if one.name in here else "off",
        )
    ]


COMMANDS = (
    Command(
        "mcp",
        "Show the MCP servers and their state.",
        mcp,
        usage="[enable|disable NAME]",
        complete=_servers,
        while_working=True,
    ),
    Command(
        "skills",
        "Choose a skill for your message.",
        shelf,
        usage="[on|off|enable|disable NAME]",
        more="on and off are for this thread, enable and disable for all.",
        complete=_skills,
        while_working=True,
    ),
)
