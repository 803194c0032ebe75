"""What MCP servers ask of the host while they work: each request is put before the gate.

An answer of a model, words of the user, the folders: a request is judged like a call, with the
method in the place of the tool (`mcp = "server/sampling/createMessage"`), and the log has it.
"""

from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from steersman.governance.gate import Gate
from steersman.records.action import McpCall, Verdict
from steersman.records.call_ids import SERVER
from steersman.records.errors import Denied
from steersman.records.mcp_tools import Effect, Wishes
from steersman.records.message import Question
from steersman.store.log import Lane
from steersman.systems import Edited

Aside = Callable[[str, str, Lane], Awaitable[str]]
SHOWN = 2000  # characters of a request that are judged and logged
LONGEST = 100_000  # characters a model is asked to read for a server


class Requests:
    """What servers ask of the host. `aside` gives an answer of the thread's model.

    `client` is another program that the thread works for, and that answers for itself.
    """

    def __init__(
        self,
        gate: Gate,
        lane: Lane,
        root: str,
        aside: Aside | None,
        client: Wishes | None = None,
    ) -> None:
        self._client = client
        self._gate = gate
        self._lane = lane
        self._root = root
        self._aside = aside
        self._numbers = count(1)

    def wishes(self, changed: Callable[[str], None]) -> Wishes:
        """What is answered; without a model nothing is sampled."""
        if self._client is not None:
            return Wishes(
                self._sample if self._client.sample else None,
                self._elicit if self._client.elicit else None,
                self._roots if self._client.roots else None,
                changed,
            )
        sample = self._sample if self._aside is not None else None
        return Wishes(sample, self._elicit, self._roots, changed)

    async def _sample(self, server: str, request: Mapping[str, Any]) -> str:
        """An answer of the model, which costs: a person is asked unless a rule says so."""
        text, system = _conversation(request), str(request.get("systemPrompt", ""))
        asked: dict[str, Any] = {"text": text[:SHOWN]}
        if system:
            asked["system"] = system[:SHOWN]
        if len(text) > SHOWN or len(system) > SHOWN:
            asked["characters"] = len(text) + len(system)
        if self._client is not None and self._client.sample is not None:
            await self._admit(server, "sampling/createMessage", asked, "reads")
            return await self._client.sample(server, request)
        assert self._aside is not None
        if len(text) + len(system) > LONGEST:
            raise Denied(f"{server} asks the model to read more than {LONGEST:,} characters.")
        await self._admit(server, "sampling/createMessage", asked, "writes")
        self._gate.check_budget()
        return await self._aside(system, text, self._lane)

    async def _roots(self, server: str) -> list[str]:
        """The workspace."""
        await self._admit(server, "roots/list", {}, "reads")
        if self._client is not None and self._client.roots is not None:
            return await self._client.roots(server)
        return [Path(self._root).as_uri()]

    async def _elicit(
        self, server: str, message: str, schema: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """The user's answers, field by field; when nobody is there, none.

        A form that asks for a secret is not shown: what is typed into one is in the log.
        """
        from steersman.operations.mcp.forms import fields, filled, legible, wants_secret

        form = fields(schema)
        asked = {"message": message[:SHOWN], "fields": [field.name[:80] for field in form]}
        await self._admit(server, "elicitation/create", asked, "reads")
        if self._client is not None and self._client.elicit is not None:
            return await self._client.elicit(server, message, schema)
        message = legible(message, SHOWN)
        if schema.get("mode") == "url":
            address = legible(str(schema.get("url")), SHOWN)
            page = f"The MCP server {server} asks you to open {address}: {message}"
            asking = Question(page, ("done", "decline"), "decline", server)
            said = await self._gate.question(asking, self._lane)
            return ("accept" if said.text == "done" else "decline"), {}
        if any(map(wants_secret, form)):
            raise Denied(
                f"{server} asks for a secret in a form, which the protocol does not allow."
            )
        opening = f"The MCP server {server} asks: {message}"
        asking = Question(opening, ("answer", "decline"), "decline", server)
        if (await self._gate.question(asking, self._lane)).text != "answer":
            return "decline", {}
        content: dict[str, Any] = {}
        for field in form:
            several = field.kind == "array" and bool(field.options)
            asking = Question(
                field.question, field.options, field.default, server, multiple=several
            )
            said = await self._gate.question(asking, self._lane)
            if said.by == "declined":
                return "decline", {}
            try:
                value = filled(field, said.text)
            except ValueError:
                return "cancel", {}
            if value is not None:
                content[field.name] = value
            elif field.required:
                return "cancel", {}
        return "accept", content

    async def _admit(
        self, server: str, method: str, arguments: dict[str, Any], effect: Effect
    ) -> None:
        action = McpCall(server, method, arguments, effect)
        number = next(self._numbers)
        verdict = await self._gate.admit(
            f"{SERVER}{server}_{number}", f"{server}__{method}", [action], self._lane
        )
        if isinstance(verdict, Verdict):
            raise Denied(f"Denied: {verdict.reason}.", verdict.source)
        if isinstance(verdict, Edited):
            raise Denied("A server's request can be allowed or denied, not changed.")


def _conversation(request: Mapping[str, Any]) -> str:
    """The text of a request for a model's answer."""
    found = []
    for message in request.get("messages", ()):
        content = message.get("content")
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, Mapping) and part.get("type") == "text":
                found.append(str(part.get("text", "")))
    return "\n\n".join(found)
