"""A server that knows nothing of workspaces: whatever is asked, it answers the same."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def answering(status: int, headers: Sequence[str] = ()) -> Iterator[str]:
    """Answer every request with a status; gives the address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        head = "\r\n".join([f"HTTP/1.1 {status} No", "Content-Length: 0", *headers])
        answer = f"{head}\r\nConnection: close\r\n\r\n".encode()

        def serve() -> None:
            while True:
                try:
                    caller, _ = listening.accept()
                except OSError:
                    return
                with caller:
                    caller.recv(65536)
                    caller.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
