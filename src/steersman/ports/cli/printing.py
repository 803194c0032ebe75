"""`steer -p TASK`: print and end, with the flags and the output that Claude Code has for it."""

import asyncio
import os
import select
import sys
from typing import Any

import click

from steersman.ports.cli.options import spending, working
from steersman.ports.cli.values import thread_ids
from steersman.records.errors import UsageProblem

PIPED_SECONDS = 3.0  # a pipe nobody writes to or closes is waited for so long, if there is a task
ASKS = "stdio"
# Flags of Claude Code that change nothing here: what they are about is so anyway, or not there.
_UNUSED = ("--verbose", "--setting-sources", "--strict-mcp-config", "--betas", "--fallback-model")
_UNUSED_VALUED = frozenset(_UNUSED[1:]) - {"--strict-mcp-config"}
# Its spelling of flags that have a name of ours.
_SPELLINGS = {
    "--allowedTools": "--allow", "--allowed-tools": "--allow",
    "--disallowedTools": "--deny", "--disallowed-tools": "--deny",
    "--max-turns": "--max-steps", "--max-budget-usd": "--max-cost",
    "--system-prompt": "--append-system-prompt",
}  # fmt: skip
_LISTED = ("--allow", "--deny", "--tools")  # words up to the next flag are all theirs


def meant(arguments: list[str]) -> list[str]:
    """Arguments as Claude Code takes them, in our spelling."""
    made: list[str] = []
    words = iter(arguments)
    listed = ""
    for word in words:
        if word == "--":
            return [*made, word, *words]
        flag, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if flag in _UNUSED:
            listed = ""
            if flag in _UNUSED_VALUED and not equals:
                next(words, None)
        elif flag.startswith("-"):
            flag = _SPELLINGS.get(flag, flag)
            listed = flag if flag in _LISTED and not equals else ""
            made += [] if listed else [f"{flag}{equals}{value}"]
        else:
            made += [listed, word] if listed else [word]
    return made


@click.command("print")
@click.argument("task", nargs=-1)
@click.option("--print", "-p", "_print", is_flag=True, help="Print and end; it is what this does.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "stream-json"]),
    default="text",
    help="The answer, its result as JSON, or every step as a line of JSON.",
)
@click.option(
    "--input-format",
    type=click.Choice(["text", "stream-json"]),
    default="text",
    help="stream-json: prompts and answers are read from standard input as lines of JSON.",
)
@click.option("--include-partial-messages", "partial", is_flag=True, help="Also streamed pieces.")
@click.option("--replay-user-messages", "replay", is_flag=True, help="Also what you say.")
@click.option(
    "--permission-prompt-tool",
    metavar="stdio",
    help="stdio: requests for permission are written to the output and answered in the input.",
)
@click.option(
    "--permission-mode",
    metavar="MODE",
    help="default, acceptEdits, plan, dontAsk or bypassPermissions.",
)
@click.option("--dangerously-skip-permissions", "skip", is_flag=True, help="The same as --yes.")
@click.option(
    "--append-system-prompt",
    "instructions",
    metavar="TEXT",
    help="More instructions for the model, after Steersman's own.",
)
@click.option(
    "--resume",
    "-r",
    metavar="THREAD",
    shell_complete=thread_ids,
    help="Continue a thread, by its id.",
)
@click.option("--continue", "-c", "go_on", is_flag=True, help="Continue the last thread here.")
@click.option("--fork-session", "fork", is_flag=True, help="Continue in a copy of the thread.")
@working
@spending
def command(**flags: Any) -> int:
    """Do TASK, print the answer and end; what is piped in is part of the task.

    What needs your approval is denied unless --yes, --allow or --permission-prompt-tool says
    otherwise.
    """
    from steersman.ports.cli.speaking import speak

    streams = flags["input_format"] == "stream-json"
    _check(flags, streams=streams)
    prompt = None if streams else _prompt(" ".join(flags["task"]))
    return asyncio.run(speak(prompt, flags, asks=flags["permission_prompt_tool"] == ASKS))


def _check(flags: dict[str, Any], *, streams: bool) -> None:
    if streams and flags["output_format"] != "stream-json":
        raise UsageProblem(
            "--input-format stream-json needs --output-format stream-json.",
            "Answers to lines of JSON are lines of JSON.",
        )
    asks = flags["permission_prompt_tool"]
    if asks and (asks != ASKS or not streams):
        raise UsageProblem(
            "--permission-prompt-tool is only for `stdio`, with --input-format stream-json.",
            try_this="Pass --allow RULE for what may be done.",
        )
    if flags["fork"] and not (flags["resume"] or flags["go_on"]):
        raise UsageProblem("--fork-session needs --resume or --continue.")


def _prompt(task: str) -> str:
    """What was asked: the words of the command line, then what is piped in."""
    piped = _piped(waits=not task).strip()
    if not (task or piped):
        raise UsageProblem("There is no task.", try_this='Pass a task: steer -p "fix the bug".')
    return "\n\n".join(part for part in (task.strip(), piped) if part)


def _piped(*, waits: bool) -> str:
    """Standard input, where it is not a terminal; a pipe that nobody uses is not waited for."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    ready = waits or select.select([sys.stdin], [], [], PIPED_SECONDS)[0]
    if not ready:
        click.echo("Nothing came from standard input; it is not part of the task.", err=True)
        return ""
    return sys.stdin.buffer.read().decode(errors="replace")


def wanted(arguments: list[str]) -> bool:
    """Whether arguments without a command mean print mode."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    named = {word.partition("=")[0] for word in before}
    return bool(named & {"-p", "--print", "--output-format", "--input-format"})


def closed() -> None:
    """Nobody reads the output any more: what is still printed goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
