"""Stands in for `ssh -N -L`: a real process that forwards a port and writes down how it was called.

It fails like the real one when told to by SSH_FAILS, and needs the options that keep a tunnel from
asking questions or standing there without its forwarding.
"""

import os
import socket
import sys
import threading
from contextlib import suppress


def forward(source: socket.socket, sink: socket.socket) -> None:
    """Everything from one side to the other."""
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def main() -> None:
    """Listen on the local end of -L and connect to its far end."""
    arguments = sys.argv[1:]
    with open(os.environ["SSH_LOG"], "a", encoding="utf-8") as log:
        print(os.getpid(), *arguments, file=log)
    if os.environ.get("SSH_FAILS"):
        sys.exit(f"ssh: {os.environ['SSH_FAILS']}")
    assert "BatchMode=yes" in arguments
    assert "ExitOnForwardFailure=yes" in arguments
    here, port, there, far = arguments[arguments.index("-L") + 1].split(":")
    listener = socket.create_server((here, int(port)))
    while True:
        near, _ = listener.accept()
        away = socket.create_connection((there, int(far)))
        for ends in ((near, away), (away, near)):
            threading.Thread(target=forward, args=ends, daemon=True).start()


main()
