"""The first program inside a sandbox with a door: it hands its listener out, then is the command.

Its text is given to `python -I -S -c` with a descriptor, a port, addresses as `ADDRESS/PORT`, `--`
and the command; or with `terminal` and the command, where it only takes the terminal it has for its
own. It listens on the loopback of its network, on another port where others have that
one, and at the addresses where nobody does yet. It sends the listeners to the host through the
descriptor, waits for one byte, closes everything and becomes the command. It is on the way of every
command with network, so it imports only what is built in. No socket of the host's kind is made: a
filter may forbid that.
"""

import posix
import sys
from _signal import SIG_DFL, SIGPIPE, SIGXFSZ, signal  # type: ignore[import-not-found]
from _socket import (
    AF_INET,
    AF_INET6,
    AF_UNIX,
    SCM_RIGHTS,
    SO_REUSEPORT,
    SOCK_STREAM,
    SOL_SOCKET,
    socket,
)

MISSING, UNFIT, CLOSED = 127, 126, 125
WAITING = 128  # connections that wait to be accepted


def main(descriptor: str, port: str, *rest: str) -> int:
    """Hand out the listeners and become the command; the answer is the exit code if that fails."""
    host = socket(AF_UNIX, SOCK_STREAM, 0, int(descriptor))
    addresses, command = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    try:
        passed_on = [*filter(None, map(listen_at, addresses))]
        opened = hand_out([listen_for_the_proxy(int(port)), *passed_on], host)
    except OSError as error:
        return _fail(f"the network proxy cannot be opened: {error.strerror}", CLOSED)
    host.close()
    if not opened:
        return _fail("the network proxy was closed before the command began", CLOSED)
    return become(command)


def in_terminal(*command: str) -> int:
    """Make what it reads from the terminal of its session, so that keys signal, and become it."""
    try:
        posix.login_tty(0)
    except OSError as error:
        return _fail(f"the terminal cannot be used: {error.strerror}", CLOSED)
    return become(command)


def listen_for_the_proxy(port: int) -> socket:
    """The listener of this command's way out; its variables name the port that it really has."""
    listener = socket(AF_INET, SOCK_STREAM)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError:  # another command of the thread is there, or a server of one
        listener.bind(("127.0.0.1", 0))
        old, new = (f"@127.0.0.1:{one}".encode() for one in (port, listener.getsockname()[1]))
        for name, value in posix.environ.items():
            if value.endswith(old):
                posix.environ[name] = value[: -len(old)] + new
    listener.listen(WAITING)
    return listener


def listen_at(address: str) -> socket | None:
    """A listener for a port of the machine, shared with other commands; none where it is taken."""
    host, _, port = address.rpartition("/")
    listener = None
    try:
        listener = socket(AF_INET6 if ":" in host else AF_INET, SOCK_STREAM)
        listener.setsockopt(SOL_SOCKET, SO_REUSEPORT, 1)
        listener.bind((host, int(port)))
        listener.listen(WAITING)
        return listener
    except OSError:
        if listener is not None:
            listener.close()
        return None


def hand_out(listeners: list[socket], host: socket) -> bytes:
    """Give the host listeners, and wait for its word; there is none when the host is gone."""
    numbers = b"".join(one.fileno().to_bytes(4, sys.byteorder) for one in listeners)
    try:
        host.sendmsg([b"+"], [(SOL_SOCKET, SCM_RIGHTS, numbers)])
        for listener in listeners:
            listener.close()
        return host.recv(1)
    except ConnectionError:
        return b""


def become(command: tuple[str, ...]) -> int:
    """Replace this program; the answer shows why that failed, in the numbers of shells."""
    for ignored in (SIGPIPE, SIGXFSZ):  # by Python, and the command would inherit it
        signal(ignored, SIG_DFL)
    environ = posix.environ
    _drop_coerced_locale(environ)
    path = environ.get(b"PATH", b"/bin:/usr/bin").decode("utf-8", "surrogateescape")
    folders = [""] if "/" in command[0] else [f"{folder or '.'}/" for folder in path.split(":")]
    refused: OSError | None = None
    for folder in folders:
        try:
            posix.execve(folder + command[0], command, environ)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            refused = refused or error
    if refused is None:
        return _fail(f"{command[0]}: not found", MISSING)
    return _fail(f"{command[0]}: {refused.strerror}", UNFIT)


def _drop_coerced_locale(environ: dict[bytes, bytes]) -> None:
    """Undo the variable that Python adds to an environment without a locale."""
    try:
        with open("/proc/self/environ", "rb") as given:
            if b"\0LC_CTYPE=" not in b"\0" + given.read():
                environ.pop(b"LC_CTYPE", None)
    except OSError:
        return


def _fail(why: str, code: int) -> int:
    posix.write(2, f"steer: {why}\n".encode("utf-8", "surrogateescape"))
    return code


if __name__ == "__main__":
    posix._exit(in_terminal(*sys.argv[2:]) if sys.argv[1] == "terminal" else main(*sys.argv[1:]))
