"""What we send is what the provider's own client sends for the same conversation.

Both are caught by a server on loopback and compared as JSON. The client is told the conversation
in its own words, so each of these tests is also a page of that provider's manual.
"""

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from steersman.intelligence.drivers import open_endpoint
from steersman.records.dialogue import (
    AssistantItem,
    Call,
    Image,
    Item,
    Prompt,
    ProviderState,
    ResultItem,
    UserItem,
)
from steersman.records.errors import DriverProblem
from tests.intelligence.drivers.talking import (
    TOOLS,
    WIRES,
    Heard,
    endpoint_at,
    http,
    loopback,
)

SYSTEM = "You are terse."
PIXEL = Image("image/png", "iVBORw0KGgo=")
FIRST = Call("call_1", "read_file", {"path": "a.py"})
SECOND = Call("call_2", "run_shell_command", {"command": "ls"})
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
SIGNED = {
    "openai": ProviderState(
        "openai-responses",
        "gpt-5.5",
        (
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {"type": "message", "length": 6, "phase": "commentary"},
            {"type": "function_call"},
            {"type": "function_call"},
        ),
    ),
    "openai-chat": ProviderState("openai-chat", "gpt-5.5", ({"field": "reasoning_content"},)),
    "anthropic": ProviderState(
        "anthropic",
        "claude-opus-5",
        (
            {"type": "thinking", "signature": "c2ln", "length": 3, "check": 0x62980D65},
            {"type": "text", "length": 6},
            {"type": "tool_use"},
            {"type": "tool_use"},
        ),
    ),
    "gemini": ProviderState(
        "gemini",
        "gemini-3-pro",
        (
            {"type": "text", "length": 6},
            {"type": "call", "length": 0, "signature": "c2ln"},
            {"type": "call", "length": 0},
        ),
    ),
}
MODELS = {
    "openai": "gpt-5.5",
    "openai-chat": "gpt-5.5",
    "anthropic": "claude-opus-5",
    "gemini": "gemini-3-pro",
}


def conversation(case: str, wire: str) -> Prompt:
    """The conversations that are compared, as we keep them."""
    go: list[Item] = [UserItem("go")]
    results: list[Item] = [ResultItem("call_1", "x = 1"), ResultItem("call_2", "no", failed=True)]
    match case:
        case "words":
            return Prompt("", (), go)
        case "tools":
            return Prompt(SYSTEM, TOOLS, go)
        case "image":
            return Prompt(SYSTEM, (), [UserItem("What is this?", images=(PIXEL,))])
        case "schema":
            return Prompt(SYSTEM, (), go, SCHEMA)
        case "results":
            said = AssistantItem("Look. ", "", (FIRST, SECOND))
            return Prompt(SYSTEM, TOOLS, [*go, said, *results, UserItem("hurry", steer=True)])
        case _:
            said = AssistantItem("Look. ", "Hmm", (FIRST, SECOND), SIGNED[wire])
            done = [AssistantItem("Done.", "", ()), UserItem("thanks")]
            return Prompt(SYSTEM, TOOLS, [*go, said, *results, *done])


CASES = ("words", "tools", "image", "schema", "results", "reasoning")
SETTINGS = {"effort": "high", "max_output": 9000, "cache_key": "thread-7", "official": True}


# --- the same conversations, told to the official clients -------------------------------------


async def ask_openai(url: str, case: str) -> None:
    client = openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key="k", max_retries=0, organization="org", project="proj"
    )
    result = {"type": "function_call_output"}
    call = {"type": "function_call"}
    user = {"role": "user", "content": "go"}
    results: list[Any] = [
        result | {"call_id": "call_1", "output": "x = 1"},
        result | {"call_id": "call_2", "output": "no"},
    ]
    calls: list[Any] = [
        call | {"call_id": "call_1", "name": "read_file", "arguments": '{"path":"a.py"}'},
        call | {"call_id": "call_2", "name": "run_shell_command", "arguments": '{"command":"ls"}'},
    ]
    look = {"role": "assistant", "content": "Look. "}
    url_of_pixel = f"data:image/png;base64,{PIXEL.data}"
    image = {"type": "input_image", "image_url": url_of_pixel, "detail": "auto"}
    says: dict[str, list[Any]] = {
        "image": [
            {"role": "user", "content": [{"type": "input_text", "text": "What is this?"}, image]}
        ],
        "results": [user, look, *calls, *results, {"role": "user", "content": "hurry"}],
        "reasoning": [
            user,
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            look | {"phase": "commentary"},
            *calls,
            *results,
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "thanks"},
        ],
    }
    more: dict[str, Any] = {} if case == "words" else {"instructions": SYSTEM}
    if case in ("tools", "results", "reasoning"):
        more["tools"] = [
            {"type": "function", "strict": False}
            | {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in TOOLS
        ]
    if case == "schema":
        wanted = {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": False}
        more["text"] = {"format": wanted}
    await client.responses.create(
        model="gpt-5.5",
        input=says.get(case, [user]),
        stream=True,
        store=False,
        include=["reasoning.encrypted_content"],
        reasoning={"effort": "high", "summary": "auto"},
        max_output_tokens=9000,
        prompt_cache_key="thread-7",
        **more,
    )


async def ask_chat(url: str, case: str) -> None:
    client = openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key="k", max_retries=0, organization="org", project="proj"
    )
    user = {"role": "user", "content": "go"}
    calls = [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "read_file", "arguments": '{"path":"a.py"}'},
        },
        {
            "id": "call_2",
            "type": "function",
            "function": {"name": "run_shell_command", "arguments": '{"command":"ls"}'},
        },
    ]
    look = {"role": "assistant", "content": "Look. ", "tool_calls": calls}
    results = [
        {"role": "tool", "tool_call_id": "call_1", "content": "x = 1"},
        {"role": "tool", "tool_call_id": "call_2", "content": "no"},
    ]
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL.data}"}}
    says: dict[str, list[Any]] = {
        "image": [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]}],
        "results": [user, look, *results, {"role": "user", "content": "hurry"}],
        "reasoning": [
            user,
            look | {"reasoning_content": "Hmm"},
            *results,
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "thanks"},
        ],
    }
    system = [] if case == "words" else [{"role": "system", "content": SYSTEM}]
    more: dict[str, Any] = {}
    if case in ("tools", "results", "reasoning"):
        more["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in TOOLS
        ]
    if case == "schema":
        wanted = {"name": "answer", "schema": SCHEMA, "strict": False}
        more["response_format"] = {"type": "json_schema", "json_schema": wanted}
    await client.chat.completions.create(
        model="gpt-5.5",
        messages=[*system, *says.get(case, [user])],
        stream=True,
        stream_options={"include_usage": True},
        reasoning_effort="high",
        max_completion_tokens=9000,
        prompt_cache_key="thread-7",
        **more,
    )


async def ask_anthropic(url: str, case: str) -> None:
    client = anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0)
    cached: Any = {"type": "ephemeral"}

    def user(*blocks: Any) -> dict[str, Any]:
        texts = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
        return {"role": "user", "content": texts}

    use = {"type": "tool_use"}
    calls = [
        use | {"id": "call_1", "name": "read_file", "input": {"path": "a.py"}},
        use | {"id": "call_2", "name": "run_shell_command", "input": {"command": "ls"}},
    ]
    look = {"type": "text", "text": "Look. "}
    results = user(
        {"type": "tool_result", "tool_use_id": "call_1", "content": "x = 1"},
        {"type": "tool_result", "tool_use_id": "call_2", "content": "no", "is_error": True},
    )
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL.data}
    thinking = {"type": "thinking", "thinking": "Hmm", "signature": "c2ln"}
    done = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    says: dict[str, list[Any]] = {
        "image": [user({"type": "image", "source": source}, "What is this?")],
        "results": [
            user("go"),
            {"role": "assistant", "content": [look, *calls]},
            results,
            user("hurry"),
        ],
        "reasoning": [
            user("go"),
            {"role": "assistant", "content": [thinking, look, *calls]},
            results,
            done,
            user("thanks"),
        ],
    }
    more: dict[str, Any] = {}
    config: dict[str, Any] = {"effort": "high"}
    if case != "words":
        more["system"] = [{"type": "text", "text": SYSTEM, "cache_control": cached}]
    if case in ("tools", "results", "reasoning"):
        more["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": t.parameters}
            for t in TOOLS
        ]
        more["tools"][-1]["cache_control"] = cached
    if case == "schema":
        config["format"] = {"type": "json_schema", "schema": SCHEMA}
    await client.messages.create(
        model="claude-opus-5",
        max_tokens=9000,
        messages=says.get(case, [user("go")]),
        stream=True,
        cache_control=cached,
        thinking={"type": "adaptive", "display": "summarized"},
        output_config=config,
        **more,
    )


async def ask_gemini(url: str, case: str) -> None:
    options = {"base_url": url, "retry_options": {"attempts": 1}}
    client = genai.Client(api_key="k", http_options=options)
    user = {"role": "user", "parts": [{"text": "go"}]}
    calls: list[Any] = [
        {"function_call": {"id": "call_1", "name": "read_file", "args": {"path": "a.py"}}},
        {"function_call": {"id": "call_2", "name": "run_shell_command", "args": {"command": "ls"}}},
    ]
    replies = {
        "role": "user",
        "parts": [
            {
                "function_response": {
                    "id": "call_1",
                    "name": "read_file",
                    "response": {"output": "x = 1"},
                }
            },
            {
                "function_response": {
                    "id": "call_2",
                    "name": "run_shell_command",
                    "response": {"error": "no"},
                }
            },
        ],
    }
    dummy = base64.urlsafe_b64decode("skip_thought_signature_validator")
    signatures: dict[str, Any] = {"results": dummy, "reasoning": b"sig"}
    signed = {"thought_signature": signatures.get(case)}
    look = {"role": "model", "parts": [{"text": "Look. "}, calls[0] | signed, calls[1]]}
    pixel = {"inline_data": {"mime_type": "image/png", "data": PIXEL.data}}
    says: dict[str, list[Any]] = {
        "image": [{"role": "user", "parts": [{"text": "What is this?"}, pixel]}],
        "results": [user, look, replies, {"role": "user", "parts": [{"text": "hurry"}]}],
        "reasoning": [
            user,
            look,
            replies,
            {"role": "model", "parts": [{"text": "Done."}]},
            {"role": "user", "parts": [{"text": "thanks"}]},
        ],
    }
    config: dict[str, Any] = {
        "max_output_tokens": 9000,
        "thinking_config": {"include_thoughts": True, "thinking_level": "HIGH"},
    }
    if case != "words":
        config["system_instruction"] = SYSTEM
    if case in ("tools", "results", "reasoning"):
        config["tools"] = [
            {
                "function_declarations": [
                    {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters_json_schema": tool.parameters,
                    }
                    for tool in TOOLS
                ]
            }
        ]
    if case == "schema":
        config |= {"response_mime_type": "application/json", "response_json_schema": SCHEMA}
    async for _ in await client.aio.models.generate_content_stream(
        model="gemini-3-pro",
        contents=[types.Content.model_validate(said) for said in says.get(case, [user])],
        config=types.GenerateContentConfig.model_validate(config),
    ):
        pass


ASKING: dict[str, Callable[[str, str], Awaitable[None]]] = {
    "openai": ask_openai,
    "openai-chat": ask_chat,
    "anthropic": ask_anthropic,
    "gemini": ask_gemini,
}


# --- and both compared ------------------------------------------------------------------------


async def caught(wire: str, case: str) -> tuple[Heard, Heard]:
    """Our request, and the official client's."""
    refusal = http(b'{"error":{"message":"no"}}', "application/json", "400 Bad Request")
    async with loopback(refusal) as server:
        settings: dict[str, Any] = dict(SETTINGS)
        if wire.startswith("openai"):
            settings["headers"] = {"OpenAI-Organization": "org", "OpenAI-Project": "proj"}
        settings["key"] = "k"
        driver = open_endpoint(wire, MODELS[wire], endpoint_at(server.url, wire, settings))
        with suppress(DriverProblem):
            async for _ in driver.stream(conversation(case, wire)):
                pass
        await driver.aclose()
        with suppress(Exception):
            await ASKING[wire](server.url, case)
        ours, theirs = server.heard
        return ours, theirs


NAMED = (
    "authorization",
    "content-type",
    "x-api-key",
    "x-goog-api-key",
    "anthropic-version",
    "openai-organization",
    "openai-project",
)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("wire", WIRES)
def test_our_request_is_the_official_clients(wire, case) -> None:
    ours, theirs = asyncio.run(caught(wire, case))
    assert (ours.method, ours.target) == (theirs.method, theirs.target)
    for name in NAMED:
        assert ours.headers.get(name) == theirs.headers.get(name), name
    assert told(ours) == told(theirs)


def told(heard: Heard) -> Any:
    """A request as it is compared.

    Google's JSON takes names in camelCase and in snake_case, and its client sends both; base64 has
    two alphabets, and both mean the same.
    """
    return plain(heard.json) if "alt=sse" in heard.target else heard.json


def plain(value: Any) -> Any:
    match value:
        case dict():
            return {re.sub("_(.)", lambda m: m[1].upper(), k): plain(v) for k, v in value.items()}
        case list():
            return [plain(item) for item in value]
        case "skip/thought/signature/validator":
            return "skip_thought_signature_validator"
        case _:
            return value
