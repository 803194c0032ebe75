"""Who is where."""

from __future__ import annotations

from harbour.berths import Berth, free
from harbour.ships import Ship
from harbour.storage import Store, memory


class Registry:
    """All berths of a harbour."""

    def __init__(self, store: Store, berths: list[Berth]) -> None:
        self._store = store
        self._berths = berths

    def arrive(self, ship: Ship) -> Berth:
        """Find a berth for a ship."""
        for berth in free(self._berths):
            berth.assign(ship)
            self._store.save(ship.name, str(berth.number))
            return berth
        raise LookupError(f"no berth for {ship.name}: every assign() would fail")

    def leave(self, name: str) -> Ship | None:
        """Let a ship go."""
        number = self._store.load(name)
        for berth in self._berths:
            if str(berth.number) == number:
                return berth.release()
        return None


def open_registry(count: int) -> Registry:
    """A registry with so many berths."""
    return Registry(memory.MemoryStore(), [Berth(number) for number in range(count)])
