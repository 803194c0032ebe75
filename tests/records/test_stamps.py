"""When a file need not be read again."""

import os
import time

from steersman.records.stamps import FRESH, stamp


def found(path, ctime_ns):
    """A file's facts, with another time of its last change."""
    now = os.stat(path)
    return os.stat_result([*now][:10], {"st_mtime_ns": 1, "st_ctime_ns": ctime_ns})


def test_what_was_written_long_ago_is_known_by_its_stamp(tmp_path):
    long_ago = time.time_ns() - 10 * FRESH
    assert stamp(found(tmp_path, long_ago)) == stamp(found(tmp_path, long_ago))
    assert stamp(found(tmp_path, long_ago)) != stamp(found(tmp_path, long_ago - 1))


def test_what_may_be_written_again_at_the_same_time_has_none(tmp_path):
    """So it is with a disk whose clock is ahead of ours."""
    assert stamp(found(tmp_path, time.time_ns() + 10 * FRESH)) is None
