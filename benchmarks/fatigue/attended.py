"""Steersman with a person beside it, who is whoever reads and writes this process's lines.

Questions go out as JSON lines, `{"yes": true}` or `{"yes": false}` comes back. The thread runs in
this process, as it does in the terminal application.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec

from steersman.host import Host
from steersman.records.message import Answer, ConfirmRequest, ConfirmResponse, Question, TurnEnd
from steersman.records.settings import Settings

KINDS = {"write": "edit", "delete": "edit", "change_many": "edit", "network": "network",
         "mcp_call": "mcp"}  # fmt: skip
SHOWN = ("reason", "actions", "facts")


def say(**line: Any) -> None:
    """One line to the person."""
    print(json.dumps(line), flush=True)


async def main() -> None:
    """One turn in this folder."""
    approvals = get_args(Settings.__annotations__["approvals"])
    level = "review" if "review" in approvals else "on-request"
    settings = Settings(model="openai:scripted", approvals=level)
    async with Host.at(Path(os.environ["STEERSMAN_HOME"]), dict(os.environ)) as host:
        thread = await host.start(str(Path.cwd()), "a task", settings, attended=True)
        await thread.send("go")
        async for message in thread.events():
            match message.body:
                case ConfirmRequest() as request:
                    decision = "allow" if await _asked(request) else "deny"
                    await thread.answer(message.corr or "", ConfirmResponse(decision))
                case Question() as question:
                    say(asked="other", text=question.text)
                    await asyncio.to_thread(sys.stdin.readline)
                    await thread.answer(message.corr or "", Answer(question.default or "yes"))
                case TurnEnd() as end:
                    say(ended=end.ending, reason=end.reason)
                    return


async def _asked(request: ConfirmRequest) -> bool:
    body = msgspec.to_builtins(request)
    shown = "\n".join(_strings([body.get(name) for name in SHOWN]))
    say(asked=kind_of(body["actions"]), text=shown)
    return bool(json.loads(await asyncio.to_thread(sys.stdin.readline))["yes"])


def kind_of(actions: list[dict[str, Any]]) -> str:
    """What the question is about, in the words that all programs share."""
    first = actions[0] if actions else {}
    name = str(first.get("action", ""))
    if name == "execute":
        leaves = any(first.get(more) for more in ("outside", "writes", "reaches"))
        return "outside" if leaves else "command"
    if KINDS.get(name) == "edit" and first.get("origin", "tool") != "tool":
        return "effect of a command"
    return KINDS.get(name, "other")


def _strings(value: Any) -> list[str]:
    """Every text in a record."""
    match value:
        case str():
            return [value]
        case dict():
            return [text for part in value.values() for text in _strings(part)]
        case list() | tuple():
            return [text for part in value for text in _strings(part)]
    return []


if __name__ == "__main__":
    asyncio.run(main())
