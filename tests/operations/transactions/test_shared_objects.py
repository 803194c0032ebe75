"""Originals that another machine needs are in the store that both use."""

from hashlib import sha256

import pytest

from steersman.operations.journal.objects import CHUNK, LARGEST_SHARED, Objects
from steersman.records.errors import ToolProblem


class Shared(dict):
    """Contents by their digest, as a store keeps them."""

    def put_blob(self, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        self[digest] = data
        return digest

    def blob(self, digest: str) -> bytes | None:
        return self.get(digest)


@pytest.mark.parametrize("size", [0, 10, CHUNK + 1, LARGEST_SHARED])
def test_what_one_machine_keeps_another_can_read(tmp_path, size):
    shared = Shared()
    (tmp_path / "file").write_bytes(b"x" * size)
    here = Objects(tmp_path / "here", shared)
    digest, _ = here.put_file(str(tmp_path / "file"), durable=False)
    here.settle()

    there = Objects(tmp_path / "there", shared)
    assert there.has(digest)
    with there.open(digest) as content:
        assert content.read() == b"x" * size
    shared.clear()
    assert there.has(digest)  # it is kept here now


def test_what_was_kept_before_it_was_shared_is_shared_when_it_is_kept_again(tmp_path):
    shared = Shared()
    digest, _ = Objects(tmp_path / "here").put_bytes(b"original")
    Objects(tmp_path / "here", shared).put_bytes(b"original")
    assert shared == {digest: b"original"}


def test_what_is_too_large_stays_where_it_is(tmp_path):
    shared = Shared()
    (tmp_path / "file").write_bytes(b"x" * (LARGEST_SHARED + 1))
    digest, _ = Objects(tmp_path / "here", shared).put_file(str(tmp_path / "file"))
    assert shared == {}
    there = Objects(tmp_path / "there", shared)
    assert not there.has(digest)
    with pytest.raises(ToolProblem):
        there.open(digest)


def test_a_content_that_is_not_what_its_digest_says_is_not_used(tmp_path):
    digest = sha256(b"original").hexdigest()
    there = Objects(tmp_path / "there", Shared({digest: b"altered"}))
    assert not there.has(digest)
