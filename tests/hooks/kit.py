"""What tests of hooks share: a host with hooks, and what its log says of them."""

import asyncio
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from steersman.host import Host
from steersman.records.message import HookRun
from steersman.records.settings import Settings

CLAUDE = Path(__file__).parent / "claude"


def with_claude_files(workspace: Path) -> None:
    """Give a folder the hooks that were written for Claude Code."""
    shutil.copytree(CLAUDE, workspace / ".claude")


def trust(host: Host, workspace: Path) -> None:
    """The user trusts what the folder comes with now."""
    root = str(workspace)
    host.permissions.trust(root, host.permissions.folder(root), trusted=True)


def hook(event: str, command: str, matcher: str = "", timeout: float = 60) -> dict[str, Any]:
    """One hook, as settings have it."""
    entry = {"type": "command", "command": command, "timeout": timeout}
    return {event: [{"matcher": matcher, "hooks": [entry]}]}


def answering(answer: Mapping[str, Any] | str) -> str:
    """A command that prints an answer."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return f"cat <<'END'\n{text}\nEND"


def specific(event: str, **fields: Any) -> dict[str, Any]:
    """An answer about one event."""
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def play(environ: dict[str, str], scenario: Callable[[Host], Any]) -> Any:
    """Play a scenario against a host of its own."""

    async def whole() -> Any:
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            return await scenario(host)

    return asyncio.run(asyncio.wait_for(whole(), 100))


async def opened(host: Host, workspace: Path, model: str, **how: Any) -> Any:
    """A thread where nobody is asked, unless the settings say so."""
    attended = how.pop("attended", False)
    settings = Settings(model=model, **{"approvals": "never", "command_wait": 600, **how})
    return await host.start(str(workspace), "a task", settings, attended=attended)


async def worked(host: Host, workspace: Path, model: str, prompt: str = "go", **how: Any) -> Any:
    """A thread that has done one turn."""
    thread = await opened(host, workspace, model, **how)
    await thread.send(prompt)
    await thread.wait()
    return thread


def bodies(host: Host, thread: Any, *kinds: type[Any]) -> list[Any]:
    """What the log has of some kinds."""
    return [m.body for m in host.messages(thread.id) if isinstance(m.body, kinds)]


def runs(host: Host, thread: Any, event: str = "") -> Sequence[HookRun]:
    """The hooks that were run."""
    return [one for one in bodies(host, thread, HookRun) if event in ("", one.event)]
