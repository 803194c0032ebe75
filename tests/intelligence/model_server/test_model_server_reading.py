"""Request bodies as real agent programs send them, and what the wires understand."""

import json
from typing import Any

import pytest

from steersman.intelligence.scripted.wires import ANTHROPIC, CHAT, GEMINI, RESPONSES, route
from steersman.intelligence.scripted.wires.reading import is_context
from steersman.intelligence.scripted.wires.records import Address, Asked
from steersman.records.dialogue import AssistantItem, Call, Prompt, ResultItem, ToolSpec, UserItem

ANSWER = Address("answer")
SHELL = {"type": "object", "properties": {"command": {"type": "string"}}}
ENVIRONMENT = (
    "<environment_context>\n  <cwd>/w</cwd>\n  <shell>bash</shell>\n</environment_context>"
)


def message(role: str, *texts: str, kind: str = "input_text") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": t} for t in texts]}


CODEX = {
    "model": "scripted",
    "instructions": "",
    "stream": True,
    "store": False,
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "k",
    "reasoning": None,
    "tools": [
        {"type": "function", "name": "exec_command", "strict": False, "parameters": SHELL},
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
        {"type": "local_shell"},
        {"type": "web_search", "external_web_access": False},
    ],
    "input": [
        message("developer", "You are Codex.", "<permissions instructions>\nx\n"),
        message(
            "user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>"
        ),
        message("user", ENVIRONMENT),
        message("user", "fix add"),
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
        message("assistant", "Looking.", kind="output_text"),
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "exec_command",
            "arguments": '{"cmd":"ls"}',
        },
        {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin"},
        {"type": "function_call_output", "call_id": "c1", "output": "Exit code: 0"},
        {
            "type": "custom_tool_call_output",
            "call_id": "c2",
            "output": [
                {"type": "input_text", "text": "Success."},
                {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
            ],
        },
        message("user", "<turn_aborted>\nThe user interrupted.\n</turn_aborted>"),
    ],
}
CODEX_UNDERSTOOD = Asked(
    prompt=Prompt(
        "\nYou are Codex.\n<permissions instructions>\nx\n",
        (
            ToolSpec("exec_command", "", SHELL),
            ToolSpec("apply_patch", "", {}),
            ToolSpec("local_shell", "", {}),
            ToolSpec("web_search", "", {}),
        ),
        [
            UserItem("fix add"),
            AssistantItem(
                "Looking.",
                "Hm.",
                (
                    Call("c1", "exec_command", {"cmd": "ls"}),
                    Call("c2", "apply_patch", malformed="*** Begin"),
                ),
            ),
            ResultItem("c1", "Exit code: 0"),
            ResultItem("c2", "Success.\n[image]"),
        ],
    ),
    model="scripted",
    stream=True,
    free_text=frozenset({"apply_patch"}),
)

CODEX_LATEST = {
    "model": "gpt-6",
    "stream": True,
    "tools": [],
    "input": [
        {
            "type": "additional_tools",
            "role": "developer",
            "tools": [
                {
                    "type": "namespace",
                    "name": "functions",
                    "tools": [
                        {"type": "custom", "name": "exec"},
                        {"type": "function", "name": "wait"},
                    ],
                }
            ],
        },
        message("user", "go"),
    ],
}
CODEX_LATEST_UNDERSTOOD = Asked(
    prompt=Prompt("", (ToolSpec("exec", "", {}), ToolSpec("wait", "", {})), [UserItem("go")]),
    model="gpt-6",
    stream=True,
    free_text=frozenset({"exec"}),
)

PI_RESPONSES = {
    "model": "scripted",
    "stream": True,
    "input": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "item_reference", "id": "rs_1"},
        {"type": "item_reference", "id": "fc_1"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"type": "item_reference", "id": "msg_2"},
        {"role": "user", "content": "next"},
    ],
}
PI_RESPONSES_UNDERSTOOD = Asked(
    prompt=Prompt(
        "Be brief.",
        (),
        [
            UserItem("go"),
            AssistantItem("", "", (Call("fc_1", ""),)),
            ResultItem("c1", "ok"),
            AssistantItem("", "", ()),
            UserItem("next"),
        ],
    ),
    model="scripted",
    stream=True,
)

OPENCODE = {
    "model": "scripted",
    "max_tokens": 8000,
    "stream": True,
    "stream_options": {"include_usage": True},
    "tool_choice": "auto",
    "tools": [
        {
            "type": "function",
            "function": {"name": "bash", "description": "Runs.", "parameters": SHELL},
        }
    ],
    "messages": [
        {"role": "system", "content": "You are opencode."},
        {"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "image_url"}]},
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Hm.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "bash", "arguments": '{"command":"ls"}'},
                },
                {"id": "c2", "type": "function", "function": {"name": "bash", "arguments": "{"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "bad call"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ],
}
OPENCODE_UNDERSTOOD = Asked(
    prompt=Prompt(
        "You are opencode.",
        (ToolSpec("bash", "Runs.", SHELL),),
        [
            UserItem("go\n[image]"),
            AssistantItem(
                "",
                "Hm.",
                (Call("c1", "bash", {"command": "ls"}), Call("c2", "bash", malformed="{")),
            ),
            ResultItem("c1", "a.py"),
            ResultItem("c2", "bad call"),
            AssistantItem("Done.", "", ()),
        ],
    ),
    model="scripted",
    stream=True,
)

PI_CHAT = {
    "model": "scripted",
    "messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "go"}],
    "stream": None,
    "tools": None,
    "response_format": None,
}
PI_CHAT_UNDERSTOOD = Asked(
    prompt=Prompt("Be brief.", (), [UserItem("go")]),
    model="scripted",
    stream=False,
    wants_usage=False,
)

REMINDER = "<system-reminder>\nAs you answer, remember this.\n</system-reminder>\n"
CLAUDE = {
    "model": "claude-opus-5-5",
    "max_tokens": 32000,
    "stream": True,
    "metadata": {"user_id": "u"},
    "thinking": {"type": "adaptive"},
    "output_config": {"effort": "medium"},
    "system": [
        {"type": "text", "text": "You are Claude Code.", "cache_control": {"type": "ephemeral"}}
    ],
    "tools": [
        {"name": "Bash", "description": "Runs.", "input_schema": SHELL},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
    "messages": [
        {"role": "user", "content": REMINDER},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": REMINDER + REMINDER},
                {"type": "text", "text": "fix add"},
            ],
        },
        {"role": "system", "content": "# Environment"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "rm x"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "and hurry"},
                {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": "Denied."},
                        {"type": "image", "source": {"type": "base64", "data": "AA=="}},
                    ],
                },
                {"type": "text", "text": REMINDER},
            ],
        },
    ],
}
CLAUDE_UNDERSTOOD = Asked(
    prompt=Prompt(
        "You are Claude Code.\n# Environment",
        (ToolSpec("Bash", "Runs.", SHELL), ToolSpec("web_search", "", {})),
        [
            UserItem("fix add"),
            AssistantItem(
                "Looking.",
                "Hm.",
                (Call("t1", "Bash", {"command": "ls"}), Call("t2", "Bash", {"command": "rm x"})),
            ),
            ResultItem("t1", "a.py"),
            ResultItem("t2", "Denied.\n[image]", failed=True),
            UserItem("and hurry"),
        ],
    ),
    model="claude-opus-5-5",
    stream=True,
)

TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
CLAUDE_TITLE = {
    "model": "claude-haiku",
    "max_tokens": 512,
    "tools": [],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "image"}]}],
    "output_config": {"format": {"type": "json_schema", "schema": TITLE}},
}
CLAUDE_TITLE_UNDERSTOOD = Asked(
    prompt=Prompt("", (), [UserItem("go\n[image]")]),
    model="claude-haiku",
    stream=False,
    schema=TITLE,
)

SESSION = "<session_context>\nThis is the Gemini CLI.\n</session_context>"
GEMINI_CLI = {
    "systemInstruction": {"role": "user", "parts": [{"text": "You are an agent."}]},
    "tools": [
        {
            "functionDeclarations": [
                {
                    "name": "run_shell_command",
                    "description": "Runs.",
                    "parametersJsonSchema": SHELL,
                },
                {"name": "read_file", "parameters": SHELL},
            ]
        },
        {"googleSearch": {}},
    ],
    "generationConfig": {"temperature": 1, "thinkingConfig": {"includeThoughts": True}},
    "contents": [
        {"role": "user", "parts": [{"text": SESSION}, {"text": "fix add"}]},
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"text": "Looking."},
                {"functionCall": {"id": "f1", "name": "read_file", "args": {"command": "ls"}}},
                {"functionCall": {"name": "run_shell_command", "args": {"command": "rm x"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "f1",
                        "name": "read_file",
                        "response": {"output": "a.py"},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
                    }
                },
                {"functionResponse": {"name": "run_shell_command", "response": {"error": "No."}}},
                {"text": "and hurry"},
            ],
        },
    ],
}
GEMINI_CLI_UNDERSTOOD = Asked(
    prompt=Prompt(
        "You are an agent.",
        (ToolSpec("run_shell_command", "Runs.", SHELL), ToolSpec("read_file", "", SHELL)),
        [
            UserItem("fix add"),
            AssistantItem(
                "Looking.",
                "Hm.",
                (
                    Call("f1", "read_file", {"command": "ls"}),
                    Call("run_shell_command", "run_shell_command", {"command": "rm x"}),
                ),
            ),
            ResultItem("f1", "a.py\n[image]"),
            ResultItem("run_shell_command", "No.", failed=True),
            UserItem("and hurry"),
        ],
    ),
    model="gemini-2.5-flash",
    stream=True,
)


@pytest.mark.parametrize(
    ("wire", "place", "body", "understood"),
    [
        pytest.param(RESPONSES, ANSWER, CODEX, CODEX_UNDERSTOOD, id="codex"),
        pytest.param(RESPONSES, ANSWER, CODEX_LATEST, CODEX_LATEST_UNDERSTOOD, id="codex-latest"),
        pytest.param(RESPONSES, ANSWER, PI_RESPONSES, PI_RESPONSES_UNDERSTOOD, id="pi-responses"),
        pytest.param(CHAT, ANSWER, OPENCODE, OPENCODE_UNDERSTOOD, id="opencode"),
        pytest.param(CHAT, ANSWER, PI_CHAT, PI_CHAT_UNDERSTOOD, id="pi-chat"),
        pytest.param(ANTHROPIC, ANSWER, CLAUDE, CLAUDE_UNDERSTOOD, id="claude"),
        pytest.param(ANTHROPIC, ANSWER, CLAUDE_TITLE, CLAUDE_TITLE_UNDERSTOOD, id="claude-title"),
        pytest.param(
            GEMINI,
            Address("answer", "gemini-2.5-flash", stream=True),
            GEMINI_CLI,
            GEMINI_CLI_UNDERSTOOD,
            id="gemini-cli",
        ),
    ],
)
def test_what_agent_programs_send(wire, place, body, understood) -> None:
    assert wire.read(json.dumps(body).encode(), place) == understood


@pytest.mark.parametrize(
    ("text", "context"),
    [
        (ENVIRONMENT, True),
        (f"{ENVIRONMENT}\n\n{ENVIRONMENT}\n", True),
        ("<user_instructions>\n\nBe kind.\n\n</user_instructions>", True),
        ("<permissions instructions>\nNone.\n</permissions instructions>", True),
        ('<skill name="x">\ntext\n</skill>', True),
        (REMINDER, True),
        (SESSION, True),
        ("", True),
        ("go", False),
        (f"{REMINDER}go", False),
        ("<environment_context>\nnever closed", False),
        ("<skillful>x</skillful>", False),
        ("what does <system-reminder> mean?", False),
    ],
)
def test_context_is_no_prompt(text, context) -> None:
    assert is_context(text) == context


def test_many_blocks_of_context_are_seen_through_quickly() -> None:
    assert not is_context(REMINDER * 5000 + "go")


@pytest.mark.parametrize(
    ("method", "target", "headers", "wire", "place"),
    [
        ("POST", "/v1/chat/completions", {}, CHAT, ANSWER),
        ("POST", "/chat/completions", {}, CHAT, ANSWER),
        ("POST", "/v1/responses", {}, RESPONSES, ANSWER),
        ("POST", "/v1/responses/input_tokens", {}, RESPONSES, Address("count")),
        ("POST", "/v1/messages?beta=true", {}, ANTHROPIC, ANSWER),
        ("POST", "/v1/v1/messages", {}, ANTHROPIC, ANSWER),
        ("POST", "/v1/messages/count_tokens", {}, ANTHROPIC, Address("count")),
        ("POST", "/v1beta/models/m:generateContent", {}, GEMINI, Address("answer", "m")),
        ("POST", "/models/m%3AgenerateContent", {}, GEMINI, Address("answer", "m")),
        (
            "POST",
            "/v1beta/models/m:streamGenerateContent?alt=sse&key=k",
            {},
            GEMINI,
            Address("answer", "m", stream=True),
        ),
        (
            "POST",
            "/v1beta/models/m:streamGenerateContent",
            {},
            GEMINI,
            Address("answer", "m", stream=True, sse=False),
        ),
        ("POST", "/v1beta/models/m:countTokens", {}, GEMINI, Address("count", "m")),
        ("GET", "/v1/models", {}, CHAT, Address("models")),
        ("GET", "/v1/models?limit=9", {"anthropic-version": "1"}, ANTHROPIC, Address("models")),
        ("GET", "/v1beta/models?pageSize=9", {}, GEMINI, Address("models")),
        ("GET", "/v1/models", {"x-goog-api-key": "k"}, GEMINI, Address("models")),
        ("DELETE", "/v1/models", {}, CHAT, Address("unknown")),
    ],
)
def test_where_a_request_belongs(method, target, headers, wire, place) -> None:
    assert route(method, target, headers) == (wire, place)
