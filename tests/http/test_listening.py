"""The socket of a server."""

import socket

from steersman.ports.listening import listen


def test_an_answer_does_not_wait_for_the_reader_to_confirm_its_beginning() -> None:
    with listen("127.0.0.1", 0) as listening:
        near = socket.create_connection(listening.getsockname()[:2])
        accepted, _ = listening.accept()
        with near, accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
