"""The network that the commands of one thread share, so that one reaches the servers of another.

It is a namespace with a loopback in it and nothing else. It is made when a first command goes into
the background; commands that start later join it, through their guard. Nobody lives in it: it lasts
as long as the host keeps it open, and is gone with the host, whatever ends that.
"""

import fcntl
import os
import select
import subprocess
import threading
from contextlib import suppress

from steersman import children
from steersman.operations.running.bubblewrap import Bubblewrap

PATIENCE = 10.0
_NS_GET_USERNS = 0xB701
_STAYING = ("/bin/sh", "-c", "echo $$; read _")  # until it was looked at


class Loopback:
    """Nothing until it is opened; `spaces` are the namespaces to join, in this order."""

    def __init__(self) -> None:
        self.spaces: tuple[int, ...] = ()
        self._making = threading.Lock()

    def open(self, bubblewrap: Bubblewrap) -> None:
        """Make it, unless that was done; where the system refuses, there is none. It may block."""
        with self._making, suppress(OSError, ValueError, subprocess.SubprocessError):
            self.spaces = self.spaces or _made(bubblewrap)

    def traffic(self, pid: int) -> str:
        """What has passed so far, in numbers, as a process in it sees them; empty: nobody knows.

        It does not count what passes through abstract sockets: where there are some, nobody knows.
        """
        try:
            if os.stat(f"/proc/{pid}/ns/net").st_ino != os.fstat(self.spaces[-1]).st_ino:
                return ""
            with open(f"/proc/{pid}/net/unix") as sockets, open(f"/proc/{pid}/net/dev") as devices:
                if any(" @" in line for line in sockets):
                    return ""
                return next((line for line in devices if line.lstrip().startswith("lo:")), "")
        except (OSError, IndexError):
            return ""

    def close(self) -> None:
        """Let it go; whoever is in it keeps it to the end."""
        for descriptor in self.spaces:
            os.close(descriptor)
        self.spaces = ()


def _made(bubblewrap: Bubblewrap) -> tuple[int, ...]:
    """Have bubblewrap make a network, and keep hold of it; and of its users, where it has some."""
    line = [bubblewrap.program, *(["--unshare-user"] if bubblewrap.own_users else [])]
    line += ["--unshare-net", "--die-with-parent", "--ro-bind", "/", "/", "--", *_STAYING]
    with children.talk(line) as child:
        assert child.stdout is not None
        try:
            ready, _, _ = select.select([child.stdout], [], [], PATIENCE)
            pid = int(child.stdout.readline()) if ready else 0
            network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        except (OSError, ValueError):
            child.kill()
            raise
    if not bubblewrap.own_users:
        return (network,)
    try:
        return (fcntl.ioctl(network, _NS_GET_USERNS), network)
    except OSError:
        os.close(network)
        raise
