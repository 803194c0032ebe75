"""The first program inside a sandbox with a door: it hands its listener out, then is the command.

Its text is given to `python -I -S -c` with a descriptor, a port, `--` and the command. It listens
on the loopback of its own network, sends the listener to the host through the descriptor, waits for
one byte, closes everything and becomes the command. It is on the way of every command with network,
so it imports only what is built in. No socket of the host's kind is made: a filter may forbid that.
"""

import posix
import sys
from _signal import SIG_DFL, SIGPIPE, SIGXFSZ, signal  # type: ignore[import-not-found]
from _socket import AF_INET, AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket

MISSING, UNFIT, CLOSED = 127, 126, 125
WAITING = 128  # connections that wait to be accepted


def main(descriptor: str, port: str, _: str, *command: str) -> int:
    """Hand out the listener and become the command; the answer is the exit code if that fails."""
    host = socket(AF_UNIX, SOCK_STREAM, 0, int(descriptor))
    try:
        opened = hand_out(int(port), host)
    except OSError as error:
        return _fail(f"the network proxy cannot be opened: {error.strerror}", CLOSED)
    host.close()
    if not opened:
        return _fail("the network proxy was closed before the command began", CLOSED)
    for ignored in (SIGPIPE, SIGXFSZ):  # by Python, and the command would inherit it
        signal(ignored, SIG_DFL)
    return become(command)


def hand_out(port: int, host: socket) -> bytes:
    """Give the host a listener, and wait for its word; there is none when the host is gone."""
    listener = socket(AF_INET, SOCK_STREAM)
    listener.bind(("127.0.0.1", port))
    listener.listen(WAITING)
    number = listener.fileno().to_bytes(4, sys.byteorder)
    try:
        host.sendmsg([b"+"], [(SOL_SOCKET, SCM_RIGHTS, number)])
        listener.close()
        return host.recv(1)
    except ConnectionError:
        return b""


def become(command: tuple[str, ...]) -> int:
    """Replace this program; the answer shows why that failed, in the numbers of shells."""
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
    posix._exit(main(*sys.argv[1:]))
