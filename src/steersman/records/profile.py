"""How far a command is confined: decided by governance, carried out by operations."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Escalate = Literal["no", "new", "always", "anything"]


class Profile(Struct, frozen=True):
    """What a command may see, change and reach.

    `sandbox` is False for a command that was let out; `guarded` when the protected files that it
    changes are judged anyway. `files` shows what it may do to the
    workspace: nothing, or change a view of it that becomes real when its effects were judged.
    `writable` folders outside the workspace can be changed for real, such as caches; `granted` ones
    also inside a workspace that is otherwise read only; `given` are those of them that the user was
    asked about for this very command. `hidden` files and folders cannot be read;
    they may be missing, and stay so; `readable` is seen inside of them. `network`: none, through
    the door (a proxy that asks about every host), or the machine's own; `nearby` are the hosts of
    this machine and its network, as `host:port`, that the door may lead to, and `reaches` those of
    them that the user was asked about for this very command. `shared` when it is started in a
    network that other commands of its thread are in, and needs none of its own. `registries` are
    the hosts that a project names for a command that only installs packages: they are asked about
    together. `sockets` are the unix
    sockets of this machine that can be reached, and no others. `environ` is the whole environment
    of the command. `escalate`: when it failed and the sandbox refused it something that can be
    named, the user is asked for exactly that; unless "always", not for what they denied before in
    the turn; with "anything", to run it outside where it cannot be named. `retry`: whatever it
    failed at, they are asked whether to run it again.
    """

    sandbox: bool = True
    guarded: bool = False
    files: Literal["read", "write"] = "write"
    writable: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    network: Literal["none", "door", "host"] = "none"
    nearby: tuple[str, ...] = ()
    reaches: tuple[str, ...] = ()
    shared: bool = False
    registries: tuple[str, ...] = ()
    sockets: tuple[str, ...] = ()
    environ: Mapping[str, str] = {}
    escalate: Escalate = "no"
    retry: bool = False


PLAIN = Profile()
