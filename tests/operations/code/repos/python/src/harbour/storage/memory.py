"""A store that forgets."""


class MemoryStore:
    """Fulfils `Store` with a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def save(self, key: str, value: str) -> None:
        """Keep a text."""
        self._kept[key] = value

    def load(self, key: str) -> str | None:
        """A text that was kept."""
        return self._kept.get(key)
