"""One task tried by one model through the host: the work, then the hidden checks, then the figures.

The checks arrive when the model has finished and run as a person's call: through the same gate, in
the same sandbox, since what they run is what the model wrote.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from statistics import median
from typing import Any

import msgspec

from steersman.host import Host, ThreadHandle
from steersman.intelligence.benching.tasks import CHECK, Task, verdict
from steersman.intelligence.models import Models
from steersman.records.bench import Result
from steersman.records.clock import now
from steersman.records.dialogue import Tokens
from steersman.records.message import Message, ToolResult, UsageReport
from steersman.records.settings import Settings

CHECK_SECONDS = 120
PLACEHOLDER = "{task}"


async def attempt(
    host: Host, task: Task, settings: Settings, folder: Path, models: Models
) -> Result:
    """Let a model do a task in a folder and see whether it did."""
    model = settings.model
    task.lay_out(folder)
    own = msgspec.structs.replace(settings, model=model.replace(PLACEHOLDER, task.name))
    thread = await host.start(str(folder), f"bench {task.name}: {model}", own)
    try:
        started = time.monotonic()
        await thread.send(task.text)
        end = await thread.wait()
        seconds = time.monotonic() - started
        passed, why = False, end.reason if end is not None else ""
        if end is not None and end.ending == "done":
            passed, why = await _checked(task, thread, folder)
    finally:
        await thread.close()
    return Result(
        model=model,
        task=task.name,
        kind=task.kind,
        passed=passed,
        time=now(),
        thread=thread.id,
        ending=end.ending if end is not None else "",
        why=why,
        seconds=round(seconds, 3),
        **_figures(list(host.messages(thread.id, kinds={UsageReport.kind})), models),
    )


async def _checked(task: Task, thread: ThreadHandle, folder: Path) -> tuple[bool, str]:
    checks = folder / f"checks_{token_hex(4)}"
    task.lay_checks(checks, await thread.last_words())
    arguments = {
        "command": CHECK.format(checks.name),
        "wait_timeout": CHECK_SECONDS,
        "kill_on_timeout": True,
    }
    body = (await thread.call("workspace_run_command", arguments)).body
    if not isinstance(body, ToolResult) or not isinstance(body.output, dict):
        told = body.message if isinstance(body, ToolResult) else ""
        return False, f"the checks could not be run: {told}"
    return verdict(body.output.get("exit_code"), str(body.output.get("output", "")))


def _figures(messages: Sequence[Message], models: Models) -> dict[str, Any]:
    """What the requests used; the cost only when every one of them has a price."""
    found = [message.body for message in messages if isinstance(message.body, UsageReport)]
    prices = [
        models.price(usage.model, Tokens(usage.input, usage.cached, usage.output, usage.reasoning))
        for usage in found
    ]
    known = [price for price in prices if price is not None]
    return {
        "first_token_ms": median(usage.first_token_ms for usage in found) if found else 0.0,
        "requests": len(found),
        "input": sum(usage.input for usage in found),
        "cached": sum(usage.cached for usage in found),
        "output": sum(usage.output for usage in found),
        "cost": sum(known) if found and len(known) == len(found) else None,
    }
