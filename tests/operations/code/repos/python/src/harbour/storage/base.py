"""What a store is."""

from typing import Protocol


class Store(Protocol):
    """Keeps text by key."""

    def save(self, key: str, value: str) -> None:
        """Keep a text."""
        ...

    def load(self, key: str) -> str | None:
        """A text that was kept."""
        ...
