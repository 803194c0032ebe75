"""A server over a data folder of its own, and someone who sends requests to it."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from tests.world import PATIENCE, STEER

API = "/api/v0"


class Served(NamedTuple):
    """A server that runs: where, and how tests get at its data."""

    url: str
    token: str
    environ: dict[str, str]

    def client(self, token: str = "") -> httpx2.Client:
        """Someone who shows a token: that of the server, or another."""
        return httpx2.Client(
            base_url=f"{self.url}{API}",
            headers={"authorization": f"Bearer {token or self.token}"},
            timeout=PATIENCE,
            trust_env=False,
        )

    def new_token(self, *words: str) -> str:
        """A token that `steer token make` makes."""
        made = subprocess.run(
            [*STEER, "token", "make", *words, "--json"],
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        return str(json.loads(made.stdout)["token"])


@contextmanager
def served(environ: dict[str, str], folder: Path) -> Iterator[Served]:
    """`steer serve` until the block ends."""
    process = subprocess.Popen(
        [*STEER, "serve", "--port", "0", "--json"],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        said: dict[str, Any] = json.loads(line)
        token = Path(said["token_file"]).read_text().strip()
        yield Served(said["url"], token, environ)
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors, errors
