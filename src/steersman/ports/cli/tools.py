"""`steer call` and `steer tools`: the tools, from a shell, through the same gate."""

import asyncio
import os
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from steersman.host import Host, ThreadHandle
from steersman.host.settings import own_file
from steersman.ports.cli.options import (
    at_terminal,
    folder_from,
    json_flag,
    open_host,
    settings_from,
    working,
    workspace_option,
)
from steersman.ports.cli.prompts import consent
from steersman.ports.cli.views import request_words
from steersman.ports.cli.watch import Job, Watched, do
from steersman.records.dialogue import ToolSpec
from steersman.records.errors import Exit, UsageProblem
from steersman.records.message import ConfirmRequest, Message, ToolResult, TurnEnd
from steersman.views import capabilities
from steersman.views.text import one_line, safe, safe_json


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
)
@click.argument("tool", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@working
@click.option("--help", "-h", "helps", is_flag=True, help="Show this message, or that of TOOL.")
@click.pass_context
def call(
    ctx: click.Context, /, tool: str | None, arguments: tuple[str, ...], helps: bool, **flags: Any
) -> int:
    """Call TOOL with ARGUMENTS and print its result as JSON.

    They are one JSON object, or flags: `steer call TOOL --help` shows them.
    """
    if helps and tool:
        return asyncio.run(_explain(tool, folder_from(flags["workspace"])))
    if helps:
        click.echo(ctx.get_help())
        return Exit.DONE
    if tool is None:
        raise click.MissingParameter(param_hint="TOOL", param_type="argument", ctx=ctx)
    return asyncio.run(do(CallJob(tool, arguments, flags), RequestView(), attended=at_terminal()))


async def _explain(tool: str, folder: str) -> int:
    """Show what a tool does, and its arguments as flags."""
    async with open_host() as host:
        await host.learn(folder)
        spec = _named(host, folder, tool)
    if spec is None:
        raise UsageProblem(f"“{tool}” is a tool of an MCP server.", try_this="steer mcp list")
    click.echo(f"Usage: steer call {spec.name} [JSON | FLAGS]\n\n{safe(spec.description)}")
    rows = [(safe(name), safe(about)) for name, about in capabilities.flags(spec)]
    if rows:
        formatter = click.HelpFormatter(width=100)
        with formatter.section("\nArguments"):
            formatter.write_dl(rows)
        click.echo(formatter.getvalue(), nl=False)
    return Exit.DONE


def _named(host: Host, folder: str, tool: str) -> ToolSpec | None:
    """A tool by its name; None for one that an MCP server may have."""
    specs = {spec.name: spec for spec in host.tools(folder)}
    if tool not in specs and "__" not in tool:
        raise UsageProblem(f"There is no tool “{tool}”.", f"The tools are: {', '.join(specs)}.")
    return specs.get(tool)


class CallJob(Job):
    """One tool call in a thread of its own."""

    def __init__(self, tool: str, words: Sequence[str], flags: dict[str, Any]) -> None:
        self._tool = tool
        self._words = words
        self._arguments: dict[str, Any] = {}
        self._flags = flags
        self._result: ToolResult | None = None

    async def open(self, host: Host, *, attended: bool) -> Watched:
        """Make the thread, once the tool is known to exist."""
        folder = folder_from(self._flags["workspace"])
        await host.learn(folder)
        spec = _named(host, folder, self._tool)
        self._arguments = capabilities.arguments(spec, self._words)
        await consent(host, folder, attended=attended)
        handle = await host.start(
            folder,
            f"call {self._tool}",
            settings_from(self._flags, host.permissions.settings_file(folder), attended=attended),
            origin="call",
            attended=attended,
            yes=self._flags["yes"],
        )
        return Watched(handle, 0)

    async def say(self, handle: ThreadHandle, *, attended: bool) -> None:
        """Make the call and print what came of it."""
        message = await handle.call(self._tool, self._arguments)
        assert isinstance(message.body, ToolResult)
        self._result = message.body
        if self._result.status == "ok":
            shown = msgspec.json.format(msgspec.json.encode(self._result.output)).decode()
            click.echo(safe_json(shown))
        else:
            click.echo(safe(self._result.message), err=True)

    def outcome(self, end: TurnEnd | None) -> tuple[Exit, str]:
        """The exit code that fits the result."""
        assert self._result is not None
        codes = {"ok": Exit.DONE, "denied": Exit.DENIED, "malformed": Exit.USAGE}
        return codes.get(self._result.status, Exit.FAILED), self._result.message


class RequestView:
    """Shows requests only, apart from the result."""

    def show(self, message: Message) -> None:
        """Print a request to standard error."""
        if isinstance(message.body, ConfirmRequest):
            click.echo(request_words(message.body), err=True)

    def tick(self) -> None:
        """Nothing to show."""


@click.group("tools", invoke_without_command=True)
@workspace_option
@json_flag
@click.pass_context
def command(ctx: click.Context, workspace: str | None, as_json: bool) -> None:
    """Show the tools an agent has here; check a file that is to be one."""
    if ctx.invoked_subcommand is None:
        asyncio.run(_list(folder_from(workspace), as_json))


async def _list(folder: str, as_json: bool) -> None:
    async with open_host() as host:
        origins = await host.learn(folder)
        for spec in host.tools(folder):
            if as_json:
                click.echo(msgspec.json.encode(spec).decode())
                continue
            first = one_line(spec.description.splitlines()[0])
            arguments = ", ".join(spec.parameters.get("properties", {}))
            origin = f" ({safe(origins[spec.name])})" if spec.name in origins else ""
            click.echo(f"{click.style(spec.name, bold=True)}({arguments})\n    {first}{origin}")


@command.command()
@click.argument("file")
@workspace_option
def check(file: str, workspace: str | None) -> int:
    """Say what is wrong with FILE as a tool, and show it as the model will see it.

    It is run in a sandbox to find out.
    """
    return asyncio.run(_check(file, folder_from(workspace)))


async def _check(file: str, folder: str) -> int:
    from steersman.host.extensions import check

    async with open_host() as host:
        found = await check(host, file, folder, os.environ)
    for problem in found.problems:
        click.echo(click.style(f"! {safe(problem)}", fg="yellow"))
    if found.tool is not None and found.spec is not None:
        spec = found.spec
        shown = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
        click.echo(safe_json(msgspec.json.format(msgspec.json.encode(shown)).decode()))
        hosts = ", ".join(found.tool.hosts) or "no host"
        does = {"read": "reads", "write": "reads and changes"}[found.tool.files]
        most = f"takes {found.tool.timeout:g} s at most"
        click.echo(safe(f"It {does} the workspace, reaches {hosts} and {most}."))
    if found.problems:
        return Exit.FAILED
    click.echo(f"{safe(file)} can be used. {_where(folder)}")
    return Exit.DONE


def _where(folder: str) -> str:
    own = own_file(os.environ, "tools")
    return f"Tools are found in {own}, and in {folder}/.steersman/tools once you trust the folder."
