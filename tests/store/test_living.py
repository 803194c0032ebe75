"""The locks by which processes of one machine see that others live."""

import threading
from pathlib import Path

from steersman.store.living import Living


def test_threads_of_one_process_that_begin_together_do_not_wait_for_each_other(tmp_path: Path):
    """Two opened the file, one locked it, and the other waited for its own process for ever."""
    for number in range(50):
        living, together = Living(tmp_path / str(number)), threading.Barrier(4)

        def begin(living: Living = living, together: threading.Barrier = together) -> None:
            together.wait()
            living.hold("own")

        threads = [threading.Thread(target=begin, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
        assert living.alive("own")
        living.close("own")
        assert not living.alive("own")
