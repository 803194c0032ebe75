"""Threads of another machine: `--connect URL`, or `URL#ID` in the place of a thread's id.

A command with these flags asks `open_threads` for its threads, wherever they are.
"""

import os
import posixpath
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from steersman.host import Host
from steersman.ports.cli.options import folder_from, open_host
from steersman.ports.cli.values import thread_ids
from steersman.records.errors import UsageProblem

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from steersman.host.remote import Remote

F = TypeVar("F", bound=Callable[..., Any])

_NOTE = "steersman.{}"  # what a command's context has of it
_TAKEN = {"workspace", "here", "model", "profile", "mode", "trust", "approvals", "images"}
_SHOWN = {"task", "expression", "detach", "deltas", "quiet", "as_json"}


def _kept(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    ctx.meta[_NOTE.format(option.name)] = value


def _thread(ctx: click.Context, _: click.Parameter, thread: str | None) -> str | None:
    """A thread's id; where it has an address, that is where the command's threads are."""
    if thread and "://" in thread:
        url, thread = (*thread.split("#", 1), "")[:2]
        ctx.meta[_NOTE.format("address")] = url
    return thread or None


_CONNECTING = (
    click.option(
        "--connect",
        metavar="URL",
        envvar="STEERSMAN_CONNECT",
        expose_value=False,
        callback=_kept,
        help="Use the threads of the `steer serve` at this address.",
    ),
    click.option(
        "--token-file",
        metavar="FILE",
        expose_value=False,
        callback=_kept,
        help="Where its token is (default: in STEERSMAN_TOKEN).",
    ),
    click.option(
        "--plain-http",
        is_flag=True,
        expose_value=False,
        callback=_kept,
        help="Connect to another machine without TLS.",
    ),
)


def connecting(command: F) -> F:
    """The flags of every command that can use the threads of another machine."""
    for option in reversed(_CONNECTING):
        command = option(command)
    return command


def _ids(ctx: click.Context, argument: click.Parameter, begun: str) -> "list[CompletionItem]":
    """Threads of this machine; no server is asked while someone types."""
    elsewhere = ctx.meta.get(_NOTE.format("connect")) or "://" in begun
    return [] if elsewhere else thread_ids(ctx, argument, begun)


def thread_argument(*, required: bool = True) -> Callable[[F], F]:
    """A thread by its id, the beginning of it, or `URL#ID`."""
    return click.argument("thread", callback=_thread, shell_complete=_ids, required=required)


def connected() -> str:
    """The address of the server whose threads the command uses; empty for those of this machine."""
    context = click.get_current_context(silent=True)
    notes = context.meta if context else {}
    return notes.get(_NOTE.format("address")) or notes.get(_NOTE.format("connect")) or ""


def named(thread: str) -> str:
    """What a thread is called on a command line."""
    url = connected()
    return f"{url.rstrip('/')}#{thread}" if url else thread


def open_threads() -> "Host | Remote":
    """The host on this user's data, or the server that the command line names."""
    if not (url := connected()):
        return open_host()
    from steersman.host.remote import Remote
    from steersman.host.server_token import token_for

    notes = click.get_current_context().meta
    token = token_for(notes.get(_NOTE.format("token_file")), os.environ)
    return Remote(url, token, plain_http=notes.get(_NOTE.format("plain_http"), False))


def folders_there(workspace: str | None) -> tuple[str, ...]:
    """The folder that `--workspace` names, where the threads are; none if it names none."""
    if not workspace:
        return ()
    if not connected():
        return (folder_from(workspace),)
    if not posixpath.isabs(workspace):
        raise UsageProblem(
            f"“{workspace}” is not a whole path.",
            "The folder is one of the machine you connect to.",
            "Pass --workspace with a path that begins with /.",
        )
    return (posixpath.normpath(workspace),)


def work_there(flags: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The folder of a new thread there, and how it works; other flags are refused."""
    ctx = click.get_current_context()
    for option in ctx.command.params:
        name = option.name or ""
        given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name in flags and name not in _TAKEN | _SHOWN:
            raise UsageProblem(
                f"{max(option.opts, key=len)} cannot be used with --connect.",
                "The settings of the machine you connect to hold for its threads.",
            )
    folders = folders_there(flags["workspace"])
    if not folders or flags["here"]:
        raise UsageProblem(
            "The folder to work in is needed.",
            "It is one of the machine you connect to.",
            "Pass --workspace with its whole path.",
        )
    names = ("model", "profile", "mode", "trust", "approvals")
    return folders[0], {name: flags[name] for name in names if flags[name]}
