"""The official clients of the four formats behind one small interface, so that tests are tables."""

import json
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai
from google import genai
from google.genai import errors as genai_errors
from google.genai import types as genai_types

TOOLS = {
    "read_file": {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    },
    "run_shell_command": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}


@dataclass
class Heard:
    """An answer as a client put it together; the arguments of calls are text."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    usage: dict[str, int] = field(default_factory=dict)
    stop: str = ""
    signature: str = ""

    @property
    def arguments(self) -> list[tuple[str, Any]]:
        """The calls as names and parsed arguments."""
        return [(name, json.loads(text)) for _, name, text in self.calls]


@dataclass
class Results:
    """Results for all calls of an answer; `beside` is text that comes with them."""

    of: Heard
    texts: list[str]
    beside: str = ""


Talk = list[str | Heard | Results]


class Chat:
    """openai, Chat Completions."""

    wire = "chat"
    rate_limited = openai.RateLimitError
    unauthorized = openai.AuthenticationError
    broken = openai.InternalServerError
    refused = openai.BadRequestError
    lost = openai.APIConnectionError

    def __init__(self, url: str, retries: int = 0) -> None:
        self.sdk = openai.OpenAI(
            base_url=f"{url}/v1", api_key="no-key", max_retries=retries, timeout=30
        )

    def ask(
        self,
        talk: Talk,
        *,
        stream: bool,
        tools: bool = True,
        schema: dict[str, Any] | None = None,
        model: str = "scripted",
    ) -> Heard:
        request: dict[str, Any] = {"model": model, "messages": self.messages(talk)}
        if tools:
            request["tools"] = [
                {"type": "function", "function": {"name": name, "parameters": parameters}}
                for name, parameters in TOOLS.items()
            ]
        if schema is not None:
            request["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "wanted", "schema": schema},
            }
        if not stream:
            return self.whole(self.sdk.chat.completions.create(**request))
        options = {"include_usage": True}
        return self.streamed(
            self.sdk.chat.completions.create(**request, stream=True, stream_options=options)
        )

    def messages(self, talk: Talk) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for item in talk:
            match item:
                case str():
                    made.append({"role": "user", "content": item})
                case Heard():
                    calls = [
                        {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
                        for i, n, a in item.calls
                    ]
                    message: dict[str, Any] = {"role": "assistant", "content": item.text}
                    made.append(message | ({"tool_calls": calls} if calls else {}))
                case Results():
                    for (call_id, _, _), text in zip(item.of.calls, item.texts, strict=True):
                        made.append({"role": "tool", "tool_call_id": call_id, "content": text})
                    if item.beside:
                        made.append({"role": "user", "content": item.beside})
        return made

    def whole(self, answer: Any) -> Heard:
        choice = answer.choices[0]
        message = choice.message
        return Heard(
            text=message.content or "",
            reasoning=(message.model_extra or {}).get("reasoning_content", ""),
            calls=[(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or ()],
            usage=self.usage(answer.usage),
            stop=choice.finish_reason,
        )

    def streamed(self, chunks: Any) -> Heard:
        heard = Heard()
        for chunk in chunks:
            if chunk.usage:
                heard.usage = self.usage(chunk.usage)
            for choice in chunk.choices:
                delta = choice.delta
                heard.text += delta.content or ""
                heard.reasoning += (delta.model_extra or {}).get("reasoning_content", "")
                heard.stop = choice.finish_reason or heard.stop
                for call in delta.tool_calls or ():
                    if call.id:
                        heard.calls.append((call.id, call.function.name, ""))
                    call_id, name, arguments = heard.calls[call.index]
                    grown = arguments + (call.function.arguments or "")
                    heard.calls[call.index] = (call_id, name, grown)
        return heard

    def usage(self, usage: Any) -> dict[str, int]:
        return {
            "input": usage.prompt_tokens,
            "cached": usage.prompt_tokens_details.cached_tokens,
            "output": usage.completion_tokens,
            "reasoning": usage.completion_tokens_details.reasoning_tokens,
        }


class Responses(Chat):
    """openai, Responses."""

    wire = "responses"

    def ask(
        self,
        talk: Talk,
        *,
        stream: bool,
        tools: bool = True,
        schema: dict[str, Any] | None = None,
        model: str = "scripted",
    ) -> Heard:
        request: dict[str, Any] = {"model": model, "input": self.messages(talk), "store": False}
        if tools:
            request["tools"] = [
                {"type": "function", "name": name, "parameters": parameters, "strict": False}
                for name, parameters in TOOLS.items()
            ]
        if schema is not None:
            wanted = {"type": "json_schema", "name": "wanted", "schema": schema}
            request["text"] = {"format": wanted}
        if not stream:
            return self.whole(self.sdk.responses.create(**request))
        return self.streamed(self.sdk.responses.create(**request, stream=True))

    def messages(self, talk: Talk) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for item in talk:
            match item:
                case str():
                    made.append({"role": "user", "content": item})
                case Heard():
                    if item.reasoning:
                        summary = [{"type": "summary_text", "text": item.reasoning}]
                        made.append({"type": "reasoning", "id": "rs_1", "summary": summary})
                    if item.text:
                        part = {"type": "output_text", "text": item.text}
                        made.append({"type": "message", "role": "assistant", "content": [part]})
                    made += [
                        {"type": "function_call", "call_id": i, "name": n, "arguments": a}
                        for i, n, a in item.calls
                    ]
                case Results():
                    made += [
                        {"type": "function_call_output", "call_id": call[0], "output": text}
                        for call, text in zip(item.of.calls, item.texts, strict=True)
                    ]
                    if item.beside:
                        made.append({"role": "user", "content": item.beside})
        return made

    def whole(self, answer: Any) -> Heard:
        heard = Heard(usage=self.usage(answer.usage), stop=answer.status)
        for item in answer.output:
            if item.type == "reasoning":
                heard.reasoning += "".join(part.text for part in item.summary)
            elif item.type == "message":
                heard.text += "".join(part.text for part in item.content)
            else:
                heard.calls.append((item.call_id, item.name, item.arguments))
        return heard

    def streamed(self, events: Any) -> Heard:
        heard = Heard()
        numbers = []
        for event in events:
            numbers.append(event.sequence_number)
            match event.type:
                case "response.reasoning_summary_text.delta":
                    heard.reasoning += event.delta
                case "response.output_text.delta":
                    heard.text += event.delta
                case "response.output_item.added" if event.item.type == "function_call":
                    heard.calls.append((event.item.call_id, event.item.name, ""))
                case "response.function_call_arguments.delta":
                    call_id, name, arguments = heard.calls[-1]
                    heard.calls[-1] = (call_id, name, arguments + event.delta)
                case "response.completed":
                    whole = self.whole(event.response)
                    heard.usage, heard.stop = whole.usage, whole.stop
                    assert heard == whole
        assert numbers == list(range(len(numbers)))
        return heard

    def usage(self, usage: Any) -> dict[str, int]:
        return {
            "input": usage.input_tokens,
            "cached": usage.input_tokens_details.cached_tokens,
            "output": usage.output_tokens,
            "reasoning": usage.output_tokens_details.reasoning_tokens,
        }


class Anthropic:
    """anthropic, Messages."""

    wire = "anthropic"
    rate_limited = anthropic.RateLimitError
    unauthorized = anthropic.AuthenticationError
    broken = anthropic.InternalServerError
    refused = anthropic.BadRequestError
    lost = anthropic.APIConnectionError

    def __init__(self, url: str, retries: int = 0) -> None:
        self.sdk = anthropic.Anthropic(
            base_url=url, api_key="no-key", max_retries=retries, timeout=30
        )

    def ask(
        self,
        talk: Talk,
        *,
        stream: bool,
        tools: bool = True,
        schema: dict[str, Any] | None = None,
        model: str = "scripted",
    ) -> Heard:
        request: dict[str, Any] = {
            "model": model,
            "max_tokens": 1000,
            "messages": self.messages(talk),
        }
        if tools:
            request["tools"] = [
                {"name": name, "input_schema": parameters} for name, parameters in TOOLS.items()
            ]
        if schema is not None:
            request["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if not stream:
            return self.whole(self.sdk.messages.create(**request))
        return self.streamed(self.sdk.messages.create(**request, stream=True))

    def messages(self, talk: Talk) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for item in talk:
            match item:
                case str():
                    made.append({"role": "user", "content": item})
                case Heard():
                    blocks: list[dict[str, Any]] = []
                    if item.text:
                        blocks.append({"type": "text", "text": item.text})
                    blocks += [
                        {"type": "tool_use", "id": i, "name": n, "input": json.loads(a)}
                        for i, n, a in item.calls
                    ]
                    made.append({"role": "assistant", "content": blocks})
                case Results():
                    content: list[dict[str, Any]] = [
                        {"type": "tool_result", "tool_use_id": call[0], "content": text}
                        for call, text in zip(item.of.calls, item.texts, strict=True)
                    ]
                    if item.beside:
                        content.append({"type": "text", "text": item.beside})
                    made.append({"role": "user", "content": content})
        return made

    def whole(self, answer: Any) -> Heard:
        heard = Heard(usage=self.usage(answer.usage), stop=answer.stop_reason)
        for block in answer.content:
            if block.type == "thinking":
                heard.reasoning += block.thinking
                heard.signature = block.signature
            elif block.type == "text":
                heard.text += block.text
            else:
                heard.calls.append((block.id, block.name, json.dumps(block.input)))
        return heard

    def streamed(self, events: Any) -> Heard:
        heard = Heard()
        for event in events:
            if event.type == "content_block_start" and event.content_block.type == "tool_use":
                heard.calls.append((event.content_block.id, event.content_block.name, ""))
            elif event.type == "content_block_delta":
                self.delta(heard, event.delta)
            elif event.type == "message_delta":
                heard.usage, heard.stop = self.usage(event.usage), event.delta.stop_reason
        return heard

    def delta(self, heard: Heard, delta: Any) -> None:
        match delta.type:
            case "thinking_delta":
                heard.reasoning += delta.thinking
            case "signature_delta":
                heard.signature = delta.signature
            case "text_delta":
                heard.text += delta.text
            case "input_json_delta":
                call_id, name, arguments = heard.calls[-1]
                heard.calls[-1] = (call_id, name, arguments + delta.partial_json)

    def usage(self, usage: Any) -> dict[str, int]:
        return {
            "input": usage.input_tokens + usage.cache_read_input_tokens,
            "cached": usage.cache_read_input_tokens,
            "output": usage.output_tokens,
            "reasoning": usage.output_tokens_details.thinking_tokens,
        }


class Gemini:
    """google-genai, generateContent."""

    wire = "gemini"
    rate_limited = unauthorized = refused = genai_errors.ClientError
    broken = genai_errors.ServerError

    def __init__(self, url: str, retries: int = 0) -> None:
        again = genai_types.HttpRetryOptions(attempts=retries + 1, initial_delay=0.01, jitter=0)
        options = genai_types.HttpOptions(base_url=url, retry_options=again, timeout=30_000)
        self.sdk = genai.Client(api_key="no-key", http_options=options)

    def ask(
        self,
        talk: Talk,
        *,
        stream: bool,
        tools: bool = True,
        schema: dict[str, Any] | None = None,
        model: str = "scripted",
    ) -> Heard:
        config: dict[str, Any] = {"automatic_function_calling": {"disable": True}}
        if tools:
            declared = [
                {"name": name, "parameters_json_schema": parameters}
                for name, parameters in TOOLS.items()
            ]
            config["tools"] = [{"function_declarations": declared}]
        if schema is not None:
            config |= {"response_mime_type": "application/json", "response_json_schema": schema}
        request = {"model": model, "contents": self.contents(talk), "config": config}
        if not stream:
            return self.together([self.sdk.models.generate_content(**request)])
        return self.together(self.sdk.models.generate_content_stream(**request))

    def contents(self, talk: Talk) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for item in talk:
            match item:
                case str():
                    made.append({"role": "user", "parts": [{"text": item}]})
                case Heard():
                    parts: list[dict[str, Any]] = [{"text": item.text}] if item.text else []
                    parts += [
                        {"function_call": {"id": i, "name": n, "args": json.loads(a)}}
                        for i, n, a in item.calls
                    ]
                    made.append({"role": "model", "parts": parts})
                case Results():
                    replies: list[dict[str, Any]] = [
                        {"function_response": {"id": i, "name": n, "response": {"output": text}}}
                        for (i, n, _), text in zip(item.of.calls, item.texts, strict=True)
                    ]
                    if item.beside:
                        replies.append({"text": item.beside})
                    made.append({"role": "user", "parts": replies})
        return made

    def together(self, responses: Any) -> Heard:
        heard = Heard()
        for response in responses:
            candidate = response.candidates[0]
            for part in candidate.content.parts or ():
                if part.function_call:
                    call = part.function_call
                    heard.calls.append((call.id, call.name, json.dumps(call.args)))
                elif part.thought:
                    heard.reasoning += part.text
                else:
                    heard.text += part.text
            if candidate.finish_reason:
                heard.stop = candidate.finish_reason.value
                heard.usage = self.usage(response.usage_metadata)
        return heard

    def usage(self, usage: Any) -> dict[str, int]:
        return {
            "input": usage.prompt_token_count,
            "cached": usage.cached_content_token_count,
            "output": usage.candidates_token_count + usage.thoughts_token_count,
            "reasoning": usage.thoughts_token_count,
        }


CLIENTS = (Chat, Responses, Anthropic, Gemini)
