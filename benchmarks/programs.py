"""Other agent programs: how they are installed and set up, and the model server they talk to.

They come from npm, into a folder of the user's cache, and call nobody but the model server. What
is done with them is the business of `peers` and `fatigue`.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import STEER

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steersman" / "peers"
MACHINE = "arm64" if platform.machine() in ("aarch64", "arm64") else "x64"

CODEX = ("@openai/codex@0.166.0",)
CLAUDE = ("@anthropic-ai/claude-code@2.1.325",)

Start = tuple[list[str], dict[str, str]]


class Setting(NamedTuple):
    """Where a program runs: its installation, its own home, and the model server."""

    installed: Path
    home: Path
    url: str

    def write(self, path: str, content: str | dict[str, Any]) -> None:
        """A file in the program's home."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))

    def program(self, *patterns: str) -> str:
        """The first file that fits; the program itself, where its launcher can be left out."""
        modules = self.installed / "node_modules"
        for pattern in patterns:
            for found in modules.glob(pattern):
                return str(found)
        raise FileNotFoundError(f"there is no {patterns[-1]} in its packages")


def install(packages: Sequence[str], folder: Path) -> None:
    """The packages of a program, unless they are there; a mark says that all of them are."""
    mark = folder / "installed"
    if not packages or (mark.exists() and mark.read_text().split() == [*packages]):
        return
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed")
    print(f"installing {' '.join(packages)} …", file=sys.stderr, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    line = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--no-save"]
    done = subprocess.run(
        [*line, *packages], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        errors = [part for part in done.stderr.splitlines() if "error" in part]
        raise OSError(f"npm could not install it: {(errors or ['no reason given'])[0]}")
    mark.write_text("\n".join(packages))


@contextmanager
def model_server(
    folder: Path, turns: Sequence[dict[str, Any]], log: Path | None = None
) -> Iterator[str]:
    """A model server that plays these turns, and its address."""
    path = folder / "script.json"
    path.write_text(json.dumps({"turns": [*turns, {"text": "Done."}]}))
    command = [STEER, "model-server", str(path), "--port", "0", "--json"]
    command += ["--log", str(log)] if log else []
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["url"]
    finally:
        server.terminate()
        server.wait()
        assert server.stdout is not None
        server.stdout.close()


def steer_environ(setting: Setting) -> dict[str, str]:
    """What Steersman needs to use the model server, and no state of anybody else."""
    return {
        "STEERSMAN_HOME": str(setting.home / "data"),
        "OPENAI_BASE_URL": f"{setting.url}/v1",
        "OPENAI_API_KEY": "x",
    }


CODEX_SETTINGS = """
model = "scripted"
model_provider = "local"
approval_policy = "{approvals}"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false
[model_providers.local]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOCAL_KEY"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[otel]
exporter = "none"
[features]
plugins = false
apps = false
unbounded_connection_retries = false
"""


def codex(setting: Setting, approvals: str, more: str = "") -> Start:
    """Codex's program and environment, with its settings in place."""
    told = CODEX_SETTINGS.format(url=setting.url, approvals=approvals)
    setting.write("codex/config.toml", told + more)
    program = setting.program("@openai/codex-*/vendor/*/bin/codex", ".bin/codex")
    return [program], {"CODEX_HOME": str(setting.home / "codex"), "LOCAL_KEY": "x"}


def claude(setting: Setting) -> Start:
    """Claude Code's program and environment."""
    program = setting.program("@anthropic-ai/claude-code-*/claude", ".bin/claude")
    return [program], {
        "CLAUDE_CONFIG_DIR": str(setting.home / "claude"),
        "ANTHROPIC_BASE_URL": setting.url,
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "IS_SANDBOX": "1",
    }
