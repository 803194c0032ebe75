"""Live pieces on their way between processes: cut to what a channel carries, joined again.

A packet is a thread's id, which part of how many it is, and some bytes. Parts come in order or not
at all; what is incomplete is dropped.
"""

from collections.abc import Iterator


def cut(thread_id: str, pieces: bytes, most: int) -> Iterator[bytes]:
    """Packets of at most about `most` bytes."""
    count = max(1, -(-len(pieces) // most))
    for part in range(count):
        head = f"{thread_id} {part} {count}\n".encode()
        yield head + pieces[part * most : (part + 1) * most]


class Joined:
    """Joins packets, apart for each sender."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, str], list[bytes]] = {}

    def add(self, sender: str, packet: bytes) -> tuple[str, bytes] | None:
        """Take a packet; the answer is a thread and its pieces when they are whole."""
        head, _, data = packet.partition(b"\n")
        thread_id, part, count = head.decode().split(" ")
        key = (sender, thread_id)
        parts = self._begun.pop(key, []) if int(part) else []
        if len(parts) != int(part):
            return None
        parts.append(data)
        if len(parts) == int(count):
            return thread_id, b"".join(parts)
        self._begun[key] = parts
        return None
