"""A program that drives an agent by the official SDK: `python driving.py STEER FOLDER STORY`.

It runs where the SDK is; what it saw is printed as JSON for the test that started it.
"""

import asyncio
import json
import os
import sys
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    StreamEvent,
    ToolUseBlock,
    query,
)

STEER, FOLDER, STORY = sys.argv[1:]
SEEN: dict[str, Any] = {"asked": []}


def options(**more: Any) -> ClaudeAgentOptions:
    """How every story begins."""
    return ClaudeAgentOptions(cli_path=STEER, cwd=FOLDER, **more)


async def answers(client: ClaudeSDKClient, words: str) -> ResultMessage:
    """Say something and read all of the answer."""
    await client.query(words)
    async for message in client.receive_response():
        if isinstance(message, StreamEvent):
            SEEN["pieces"] = SEEN.get("pieces", 0) + 1
        if isinstance(message, ResultMessage):
            return message
    raise AssertionError("no result")


async def asking() -> None:
    """One question and its answer; then the same thread again."""
    tools = []
    async for message in query(prompt="fix it", options=options(permission_mode="acceptEdits")):
        if isinstance(message, AssistantMessage):
            tools += [b.name for b in message.content if isinstance(b, ToolUseBlock)]
        if isinstance(message, ResultMessage):
            SEEN.update(result=message.result, session=message.session_id, tools=tools)
    async for message in query(prompt="again", options=options(resume=SEEN["session"])):
        if isinstance(message, ResultMessage):
            SEEN.update(again=message.result, same=message.session_id == SEEN["session"])


async def permitting() -> None:
    """A callback that denies, changes, and allows for the whole session."""

    async def may(name: str, given: dict[str, Any], context: Any) -> Any:
        SEEN["asked"].append([name, given.get("content") or given.get("command"), context.title])
        number = len(SEEN["asked"])
        if number == 1:
            return PermissionResultDeny(message="Not this one.")
        if number == 2:
            return PermissionResultAllow(updated_input={**given, "content": "changed\n"})
        return PermissionResultAllow(updated_permissions=context.suggestions[:1])

    how = options(can_use_tool=may, include_partial_messages=True)
    async with ClaudeSDKClient(how) as client:
        first = await answers(client, "one")
        SEEN["denied"] = [one["tool_name"] for one in first.permission_denials or []]
        second = await answers(client, "two")
        SEEN["same"] = first.session_id == second.session_id


async def stopping() -> None:
    """A turn is interrupted, and the next one works, with another model."""
    async with ClaudeSDKClient(options(permission_mode="acceptEdits")) as client:
        await client.query("wait")
        async for message in client.receive_response():
            if isinstance(message, AssistantMessage):
                await client.interrupt()
            if isinstance(message, ResultMessage):
                stopped = message
        SEEN["stopped"] = [stopped.subtype, stopped.is_error]
        await client.set_permission_mode("plan")
        await client.set_model(os.environ["OTHER_MODEL"])
        SEEN["next"] = (await answers(client, "and now")).result


asyncio.run({"asking": asking, "permitting": permitting, "stopping": stopping}[STORY]())
print(json.dumps(SEEN))
