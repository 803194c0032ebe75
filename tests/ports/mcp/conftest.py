"""`steer mcp serve` in processes of its own, and clients of both eras for it."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.world import Steer

SERVE = [sys.executable, "-m", "steersman", "mcp", "serve"]
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
TOKEN = "a-token-for-the-tests-only"
Elicit = Callable[[Any, Any], Awaitable[Any]]


class Served:
    """A server over HTTP."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self.process = process
        self.url = url


class Serving:
    """Ways to start the server and to talk to it."""

    def __init__(self, steer: Steer, tmp_path: Path) -> None:
        self.steer = steer
        self.token_file = tmp_path / "token"

    def argv(self, *flags: str) -> list[str]:
        """The command that serves the workspace."""
        return [*SERVE, "--workspace", str(self.steer.folder), *flags]

    @contextmanager
    def http(self, *flags: str) -> Iterator[Served]:
        """A server over HTTP, ended afterwards."""
        if not self.token_file.exists():
            self.token_file.write_text(TOKEN)
            self.token_file.chmod(0o600)
        where = ("--http", "127.0.0.1:0", "--token-file", str(self.token_file))
        process = subprocess.Popen(
            self.argv(*where, *flags),
            env=self.steer.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            first = process.stderr.readline()
            assert first.startswith("Serving at "), first + process.stderr.read()
            yield Served(process, first.removeprefix("Serving at ").strip())
        finally:
            process.terminate()
            process.communicate(timeout=30)

    @asynccontextmanager
    async def client(
        self, over: str, era: str, *flags: str, elicit: Elicit | None = None
    ) -> AsyncIterator[Any]:
        """A client of an era, connected over stdio or HTTP."""
        from mcp import Client, StdioServerParameters

        if over == "stdio":
            command, *arguments = self.argv(*flags)
            how = StdioServerParameters(
                command=command,
                args=arguments,
                env={**self.steer.environ, "PATH": os.environ["PATH"]},
            )
            async with Client(how, mode=era, elicitation_callback=elicit) as client:
                yield client
            return
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        with self.http(*flags) as served:
            headers = {"authorization": f"Bearer {TOKEN}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=30) as line,
                Client(
                    streamable_http_client(served.url, http_client=line),
                    mode=era,
                    elicitation_callback=elicit,
                ) as client,
            ):
                yield client


@pytest.fixture
def serving(steer: Steer, tmp_path: Path) -> Serving:
    """The server of the workspace."""
    return Serving(steer, tmp_path)
