"""`steer call` and `steer tools`: the tools, from a shell, through the same gate."""

import asyncio
import os
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
from steersman.records import validation
from steersman.records.errors import Exit, UsageProblem
from steersman.records.message import ConfirmRequest, Message, ToolResult, TurnEnd
from steersman.views.text import one_line, safe, safe_json


@click.command()
@click.argument("tool")
@click.argument("arguments", default="{}")
@working
def call(tool: str, arguments: str, **flags: Any) -> int:
    """Call TOOL with ARGUMENTS (a JSON object) and print its result as JSON."""
    try:
        given = msgspec.json.decode(arguments, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise UsageProblem(
            "The arguments are not a JSON object.",
            validation.sentence(error),
            """For example: steer call workspace_read_file '{"path": "README.md"}'""",
        ) from error
    return asyncio.run(do(CallJob(tool, given, flags), RequestView(), attended=at_terminal()))


class CallJob(Job):
    """One tool call in a thread of its own."""

    def __init__(self, tool: str, arguments: dict[str, Any], flags: dict[str, Any]) -> None:
        self._tool = tool
        self._arguments = arguments
        self._flags = flags
        self._result: ToolResult | None = None

    async def open(self, host: Host, *, attended: bool) -> Watched:
        """Make the thread, once the tool is known to exist."""
        folder = folder_from(self._flags["workspace"])
        await host.learn(folder)
        names = [spec.name for spec in host.tools(folder)]
        if self._tool not in names and "__" not in self._tool:  # a server may have it
            raise UsageProblem(
                f"There is no tool “{self._tool}”.", f"The tools are: {', '.join(names)}."
            )
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
