"""The tools that the conformance suite expects of a server, as an offer of their own.

They are scripts of a few lines: what they show, say, ask and give. The server that serves them is
ours, with nothing left out.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from steersman.ports.mcp.offer import (
    Asked,
    Ended,
    Event,
    Method,
    OfferedTool,
    ProtocolError,
    Said,
    Shown,
)
from steersman.ports.mcp.words import failure, text_block

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
        "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
    )
).decode()
SILENCE = base64.b64encode(
    b"RIFF&\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\2\0\0\0\0\0"
).decode()
OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


class Script:
    """A call of one of the tools: a task that talks through a queue."""

    def __init__(self, run: "Run", arguments: dict[str, Any]) -> None:
        self.arguments = arguments
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._answers: dict[str, asyncio.Future[Mapping[str, Any] | None]] = {}
        self._task = asyncio.create_task(self._run(run))

    async def _run(self, run: "Run") -> None:
        self._events.put_nowait(await run(self))

    def show(self, done: float, total: float, text: str) -> None:
        self._events.put_nowait(Shown(text, done, total))

    def say(self, data: str) -> None:
        self._events.put_nowait(Said("info", data))

    def asking(
        self, key: str, method: Method, params: Mapping[str, Any]
    ) -> asyncio.Future[Mapping[str, Any] | None]:
        self._answers[key] = asyncio.get_running_loop().create_future()
        self._events.put_nowait(Asked(key, method, params))
        return self._answers[key]

    async def next(self) -> Event:
        return await self._events.get()

    def more(self) -> Event | None:
        return None if self._events.empty() else self._events.get_nowait()

    def answer(self, key: str, result: Mapping[str, Any] | None) -> None:
        self._answers[key].set_result(result)

    async def cancel(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})


Run = Callable[[Script], Awaitable[Ended]]


class Fixtures:
    """All the tools."""

    async def tools(self) -> Sequence[OfferedTool]:
        return [
            OfferedTool(name, (run.__doc__ or name).strip(), SCHEMAS.get(name, OBJECT))
            for name, run in TOOLS.items()
        ]

    async def begin(
        self, tool: str, arguments: dict[str, Any], abilities: frozenset[str]
    ) -> Script:
        if tool == "test_missing_capability" and "sampling/createMessage" not in abilities:
            needed = {"requiredCapabilities": {"sampling": {}}}
            raise ProtocolError(-32021, "The client must be able to sample.", needed)
        return Script(TOOLS[tool], arguments)


TOOLS: dict[str, Run] = {}


def tool(run: Run) -> Run:
    TOOLS[run.__name__] = run
    return run


def said(text: str) -> Ended:
    return Ended([text_block(text)])


def image() -> dict[str, Any]:
    return {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def resource(uri: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}}


def form(message: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"mode": "form", "message": message, "requestedSchema": schema}


def prompt(text: str) -> dict[str, Any]:
    content = {"type": "text", "text": text}
    return {"messages": [{"role": "user", "content": content}], "maxTokens": 100}


@tool
async def test_simple_text(call: Script) -> Ended:
    """Text."""
    return said("This is a simple text response for testing.")


@tool
async def test_image_content(call: Script) -> Ended:
    """An image."""
    return Ended([image()])


@tool
async def test_audio_content(call: Script) -> Ended:
    """A sound."""
    return Ended([{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}])


@tool
async def test_embedded_resource(call: Script) -> Ended:
    """A resource inside of the result."""
    text = "This is an embedded resource content."
    return Ended([resource("test://embedded-resource", "text/plain", text)])


@tool
async def test_multiple_content_types(call: Script) -> Ended:
    """Text, an image and a resource."""
    data = resource("test://mixed", "application/json", '{"test": "data", "value": 123}')
    return Ended([text_block("Multiple content types test:"), image(), data])


@tool
async def test_tool_with_logging(call: Script) -> Ended:
    """Three lines for the client's log."""
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        call.say(line)
    return said("logged")


@tool
async def test_tool_with_progress(call: Script) -> Ended:
    """Progress in three steps."""
    for done in (0, 50, 100):
        call.show(done, 100, f"Completed step {done} of 100")
    return said("done")


@tool
async def test_error_handling(call: Script) -> Ended:
    """An error of the tool's own."""
    return failure("This tool intentionally returns an error for testing")


@tool
async def test_sampling(call: Script) -> Ended:
    """Asks the client's model."""
    params = prompt(str(call.arguments.get("prompt", "")))
    answer = await call.asking("sample", "sampling/createMessage", params)
    return said(f"LLM response: {words_of(answer)}")


@tool
async def test_elicitation(call: Script) -> Ended:
    """Asks the person something."""
    question = form(str(call.arguments.get("message", "")), response={"type": "string"})
    answer = await call.asking("ask", "elicitation/create", question)
    return said(f"User response: {answer}")


@tool
async def test_elicitation_sep1034_defaults(call: Script) -> Ended:
    """Asks with defaults for every kind of field."""
    statuses = ["active", "inactive", "pending"]
    question = form(
        "Please review and update the form fields with defaults",
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": statuses, "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    answer = await call.asking("ask", "elicitation/create", question)
    return said(f"Elicitation completed: {answer}")


@tool
async def test_elicitation_sep1330_enums(call: Script) -> Ended:
    """Asks with every kind of choice."""
    titled = [{"const": f"value{n}", "title": f"{n}. option"} for n in (1, 2, 3)]
    plain = [f"option{n}" for n in (1, 2, 3)]
    question = form(
        "Please select options from the enum fields",
        untitledSingle={"type": "string", "enum": plain},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={"type": "string", "enum": plain, "enumNames": ["One", "Two", "Three"]},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": plain}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    answer = await call.asking("ask", "elicitation/create", question)
    return said(f"Elicitation completed: {answer}")


@tool
async def json_schema_2020_12_tool(call: Script) -> Ended:
    """Has a schema with the newer words in it."""
    return said("ok")


@tool
async def test_x_mcp_header(call: Script) -> Ended:
    """Has an argument that is sent as a header, too."""
    return said(f"region={call.arguments.get('region', '')}")


@tool
async def test_missing_capability(call: Script) -> Ended:
    """Cannot begin for a client that has no model."""
    return said("The client can sample.")


@tool
async def test_logging_tool(call: Script) -> Ended:
    """One line for the client's log."""
    call.say("test_logging_tool ran")
    return said("logged")


@tool
async def test_streaming_elicitation(call: Script) -> Ended:
    """Asks for a word."""
    answer = await call.asking("ask", "elicitation/create", form("A word", word={"type": "string"}))
    return said(f"elicitation {answer}")


@tool
async def test_input_required_result_elicitation(call: Script) -> Ended:
    """Asks for a name."""
    answer = await call.asking("user_name", "elicitation/create", NAME)
    return said(f"Hello, {((answer or {}).get('content') or {}).get('name')}!")


@tool
async def test_input_required_result_sampling(call: Script) -> Ended:
    """Asks the client's model a question."""
    params = prompt("What is the capital of France?")
    answer = await call.asking("capital_question", "sampling/createMessage", params)
    return said(f"Model said: {words_of(answer)}")


@tool
async def test_input_required_result_list_roots(call: Script) -> Ended:
    """Asks for the client's folders."""
    answer = await call.asking("client_roots", "roots/list", {})
    return said(f"Client exposed {len((answer or {}).get('roots', ()))} roots.")


@tool
async def test_input_required_result_request_state(call: Script) -> Ended:
    """Asks, and gets its state back."""
    await call.asking("confirm", "elicitation/create", OKAY)
    return said("state-ok: confirmation received")


@tool
async def test_input_required_result_multiple_inputs(call: Script) -> Ended:
    """Asks three things at once."""
    asked = (
        call.asking("user_name", "elicitation/create", NAME),
        call.asking("greeting", "sampling/createMessage", prompt("Generate a greeting")),
        call.asking("client_roots", "roots/list", {}),
    )
    await asyncio.gather(*asked)
    return said("All inputs received.")


@tool
async def test_input_required_result_multi_round(call: Script) -> Ended:
    """Asks one thing after the other."""
    name = await call.asking("step1", "elicitation/create", NAME)
    colour = form("What is your favorite color?", color={"type": "string"})
    answer = await call.asking("step2", "elicitation/create", colour)
    return said(f"{name} likes {answer}.")


@tool
async def test_input_required_result_tampered_state(call: Script) -> Ended:
    """Asks, and must not be fooled about its state."""
    await call.asking("confirm", "elicitation/create", OKAY)
    return said("state-ok")


@tool
async def test_input_required_result_capabilities(call: Script) -> Ended:
    """Asks whatever the client can answer."""
    asked = (
        call.asking("sample", "sampling/createMessage", prompt("Say hello")),
        call.asking("ask", "elicitation/create", NAME),
    )
    await asyncio.gather(*asked)
    return said("asked")


def words_of(answer: Mapping[str, Any] | None) -> str:
    """The text of a model's answer."""
    content = (answer or {}).get("content") or {}
    first = content[0] if isinstance(content, list) and content else content
    return str(first.get("text", "none")) if isinstance(first, dict) else "none"


NAME = form("What is your name?", name={"type": "string"})
OKAY = form("Please confirm", ok={"type": "boolean"})
SCHEMAS: dict[str, dict[str, Any]] = {
    "test_sampling": {
        "type": "object",
        "properties": {"prompt": {"type": "string"}},
        "required": ["prompt"],
    },
    "test_elicitation": {
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    },
    "test_x_mcp_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    },
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}
