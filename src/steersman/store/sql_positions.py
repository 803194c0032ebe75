"""One order over the messages of all threads: each has a position that is the same for everyone."""

from abc import abstractmethod

from steersman.store.contract import PlacedRow, PlacedRows, Row
from steersman.store.sql import Database, Tables

_PLACED = (
    "SELECT m.position, m.thread, t.workspace, "
    "m.seq, m.time, m.turn, m.kind, m.path, m.corr, m.body, m.hash "
    "FROM messages m JOIN threads t ON t.id = m.thread "
    "WHERE m.position > ? AND m.position <= ? ORDER BY m.position LIMIT ?"
)


class AcrossThreads(Tables):
    """Reading across threads; positions are given when a message is inserted."""

    def positions(self, after: int, limit: int) -> PlacedRows:
        """Messages of all threads after a position, in order, at most `limit`."""

        def read(db: Database) -> PlacedRows:
            until, more = self._settled(db)
            rows = db.execute(_PLACED, (after, until, limit)).fetchall()
            found = [PlacedRow(row[0], row[1], row[2], Row(*row[3:])) for row in rows]
            return PlacedRows(found, more)

        return self._read(read)

    @abstractmethod
    def _settled(self, db: Database) -> tuple[int, bool]:
        """Up to which position nothing can appear any more, and whether more were given."""
