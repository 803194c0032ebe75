"""Every kind of store keeps the whole contract."""

from pathlib import Path

import pytest

from tests.store.contract import StoreContract
from tests.store.meeting import MeetingContract
from tests.store.meeting_news import NewsContract
from tests.store.naming import NamesContract
from tests.store.positions import PositionsContract


class TestSqlite(StoreContract, MeetingContract, NewsContract, NamesContract, PositionsContract):
    """On a file in a folder that is not there yet."""

    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        """A data folder."""
        return f"sqlite:{tmp_path / 'deep' / 'data'}"


class TestPostgres(StoreContract, MeetingContract, NewsContract, NamesContract, PositionsContract):
    """On an empty database of a server."""

    @pytest.fixture
    def url(self, tmp_path: Path, postgres_url: str) -> str:
        """A data folder and a database."""
        return f"postgres:{tmp_path / 'data'} {postgres_url}"
