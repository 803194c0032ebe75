"""The hooks that hold in a folder, and how each of them ended last in a thread."""

from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.identity import hooks
from steersman.records.hooks import Hook
from steersman.records.message import HookRun, Message
from steersman.records.settings import Settings

if TYPE_CHECKING:
    from steersman.host.application import Host


class Known(Struct, frozen=True):
    """The hooks there are, each with its last run, and what is wrong with others.

    `unused`: the folder comes with hooks that are not used, because it is not trusted.
    """

    hooks: tuple[tuple[Hook, Message | None], ...]
    problems: tuple[str, ...]
    unused: bool


def known(host: "Host", folder: str, settings: Settings, thread: str = "") -> Known:
    """The hooks for a folder, with their last runs in a thread if there is one."""
    trusted = host.permissions.folder(folder).loads
    found = hooks.find(folder, settings.hooks, trusted=trusted)
    unused = not trusted and hooks.find(folder, settings.hooks, trusted=True) != found
    last: dict[tuple[str, str], Message] = {}
    for message in host.messages(thread, kinds={"hook_run"}) if thread else ():
        if isinstance(message.body, HookRun):
            last[message.body.event, message.body.command] = message
    listed = tuple((hook, last.get((hook.event, hook.command))) for hook in found.hooks)
    return Known(listed, found.problems, unused)
