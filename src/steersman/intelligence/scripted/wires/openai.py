"""What both OpenAI formats share: errors, the list of models, token counts, wanted schemas."""

from typing import Any

import msgspec
from msgspec import Struct

from steersman.intelligence.scripted.wires.records import MODEL, Failure

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_CODES = {401: "invalid_api_key", 404: "not_found", 429: "rate_limit_exceeded"}


class SchemaFormat(Struct):
    """The wanted format of an answer; Chat Completions has one more level than Responses."""

    type: str = "text"
    schema: dict[str, Any] | None = None
    json_schema: "SchemaFormat | None" = None


def wanted_schema(wanted: SchemaFormat | None) -> dict[str, Any] | None:
    """The JSON Schema an answer must fit; `{}` when any JSON object will do."""
    if wanted is None or wanted.type not in ("json_schema", "json_object"):
        return None
    inner = wanted.json_schema or wanted
    return inner.schema or {}


class OpenAI:
    """The half of the two formats that is the same."""

    def failure(self, status: int, message: str, retry_after: float | None = None) -> Failure:
        """An error answer."""
        kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
        error = {"message": message, "type": kind, "param": None, "code": _CODES.get(status)}
        headers: tuple[tuple[str, str], ...] = ()
        if retry_after is not None:
            headers = (
                ("retry-after", f"{retry_after:g}"),
                ("retry-after-ms", f"{retry_after * 1000:.0f}"),
            )
        return Failure(msgspec.json.encode({"error": error}), headers)

    def counted(self, tokens: int) -> bytes:
        """The answer to a request that counts tokens."""
        return msgspec.json.encode({"object": "response.input_tokens", "input_tokens": tokens})

    def models(self) -> bytes:
        """The list of models: one."""
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "steersman"}
        return msgspec.json.encode({"object": "list", "data": [model]})
