"""What an undo would do, asked of the machine where the files are."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from steersman.host.ways import Ways
from steersman.store.sqlite import SqliteStore
from tests.remote.conftest import Box
from tests.world import Steer


def test_whoever_asks_at_the_same_time_shares_one_line(
    box: Box, far: Steer, script: Callable[..., str], environ: dict[str, str], tmp_path: Path
) -> None:
    said = far.messages("run", "-w", box.address, "--model", script({"text": "Done."}), "go")
    thread = said[0]["thread"]
    calls = tmp_path / "calls"
    counted = tmp_path / "counted"
    counted.write_text(
        f'#!/bin/sh\necho call >> {calls}\nexec {environ["STEERSMAN_SSH_COMMAND"]} "$@"\n'
    )
    counted.chmod(0o755)
    store = SqliteStore(Path(environ["STEERSMAN_HOME"]))
    ways = Ways(store, tmp_path / "data", environ | {"STEERSMAN_SSH_COMMAND": str(counted)})
    together = Barrier(4)

    def ask(_: int) -> int:
        together.wait()
        return ways.redoable(thread)

    try:
        with ThreadPoolExecutor(4) as people:
            assert list(people.map(ask, range(4))) == [0, 0, 0, 0]
        assert calls.read_text().split() == ["call"]
    finally:
        ways.close()
        store.close()
