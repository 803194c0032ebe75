"""`steer` and `steer chat`: a conversation in the terminal, full screen or line by line."""

import sys
from typing import Any

import click

from steersman.ports.cli.options import at_terminal, folders_from, open_host, spending, working
from steersman.ports.cli.values import thread_ids
from steersman.records.errors import UsageProblem

CHOOSE = "?"  # no thread has such an id


def open_chat(flags: dict[str, Any]) -> int:
    """The conversation; a turn may outlive the terminal it began in."""
    if at_terminal():
        from steersman.ports.cli.leaving import split

        split()
    from steersman.ports.tui.opening import open_terminal

    return open_terminal(flags)


def thread_meant(named: str | None, flags: dict[str, Any]) -> str:
    """The id of the thread that is named, else of the one last worked on in the folder."""
    host = open_host()
    try:
        here = () if named else folders_from(flags["workspace"])
        return (host.find(named) if named else host.latest(*here)).id
    finally:
        host.store.close()


@click.command()
@click.argument("task", nargs=-1)
@click.option(
    "--resume",
    "-r",
    is_flag=False,
    flag_value=CHOOSE,
    metavar="[THREAD]",
    shell_complete=thread_ids,
    help="Continue a thread, by its id; without one, choose from a list.",
)
@click.option("--continue", "-c", "go_on", is_flag=True, help="Continue the last thread here.")
@click.option("--plain", is_flag=True, help="Line by line, for screen readers and dumb terminals.")
@working
@spending
def command(**flags: Any) -> int:
    """Talk in the terminal; TASK, if there is one, is said first.

    `steer` alone does the same, with the same flags.
    """
    # What is drawn goes to standard error.
    if not flags["plain"] and not (at_terminal() and sys.stderr.isatty()):
        raise UsageProblem(
            "There is no terminal to chat in.",
            try_this="`steer -p TASK` prints the answer to a task, "
            "`steer run TASK` shows the work as well.",
        )
    flags["choose"] = flags["resume"] == CHOOSE
    if flags["choose"]:
        flags["resume"] = None
    if flags.pop("go_on") or flags["resume"]:
        flags["resume"] = thread_meant(flags["resume"], flags)
    return open_chat(flags)
