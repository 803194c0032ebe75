"""What the doctor says of a version of SQLite, whichever runs the test."""

import pytest

from steersman.host.doctor import sqlite


@pytest.mark.parametrize(
    ("version", "state", "told"),
    [
        ("3.34.1", "bad", "SQLite 3.34.1"),
        ("3.51.2", "ok", "without the fix"),
        ("3.51.3", "ok", "with the fix"),
        ("3.52.0", "ok", "with the fix"),
    ],
)
def test_a_version_of_sqlite_is_told_with_what_it_means(version, state, told):
    found = sqlite(version)
    assert found.state == state
    assert told in found.found
    assert bool(found.fix) == (state == "bad")
