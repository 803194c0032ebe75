"""`steer call` and `steer tools`: the tools, from a shell, through the same gate."""

import asyncio
from typing import Any

import click
import msgspec

from steersman.host import Host, ThreadHandle
from steersman.ports.cli.options import (
    at_terminal,
    folder_from,
    json_flag,
    open_host,
    settings_from,
    working,
)
from steersman.ports.cli.prompts import consent
from steersman.ports.cli.views import request_words
from steersman.ports.cli.watch import Job, Watched, do
from steersman.records import validation
from steersman.records.errors import Exit, UsageProblem
from steersman.records.message import ConfirmRequest, Message, ToolResult, TurnEnd
from steersman.views.text import safe, safe_json


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


@click.command()
@click.option("--workspace", "-w", metavar="DIR", help="Folder to work in (default: here).")
@json_flag
def listing(workspace: str | None, as_json: bool) -> None:
    """Show the tools an agent has here."""
    specs = open_host().tools(folder_from(workspace))
    for spec in specs:
        if as_json:
            click.echo(msgspec.json.encode(spec).decode())
        else:
            first = spec.description.splitlines()[0]
            arguments = ", ".join(spec.parameters.get("properties", {}))
            click.echo(f"{click.style(spec.name, bold=True)}({arguments})\n    {first}")
