"""What the words of `steer mcp add` amount to: an entry of a configuration."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from steersman.ports.cli.text import one_line
from steersman.records.errors import UsageProblem

if TYPE_CHECKING:
    from steersman.operations.mcp.templates import Template


def entry_from(
    name: str, words: Sequence[str], flags: Mapping[str, Any]
) -> tuple[dict[str, Any], "Template | None"]:
    """The entry, and the template it is made from."""
    from steersman.operations.mcp.templates import entry, template, templates

    variables = dict(_variable(one) for one in flags["env"])
    headers = dict(_header(one) for one in flags["header"])
    known: Template | None = template(flags["known"]) if flags["known"] else None
    if flags["url"] and (words or known):
        raise UsageProblem("A server has either a command, an address or a template.")
    if known is not None:
        made = entry(known, variables, words)
    elif flags["url"]:
        made = {"type": "sse" if flags["sse"] else "http", "url": flags["url"]}
    elif words:
        made = {"command": words[0], "args": list(words[1:])}
    else:
        hint = f"steer mcp add {name} --template {name}"
        raise UsageProblem(
            "What is it?",
            "A server is a template, a command after --, or an address.",
            hint if name in templates() else f"For example: steer mcp add {name} -- COMMAND ARGS",
        )
    if headers and not made.get("url"):
        raise UsageProblem("Headers are for servers that have an address.")
    if headers:
        made["headers"] = {**made.get("headers", {}), **headers}
    if variables and known is None:
        made["env"] = variables
    if flags["description"]:
        made["description"] = flags["description"]
    return made, known


def _variable(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not name or "\0" in given:
        raise UsageProblem("A variable is given as NAME=VALUE, or as NAME to refer to yours.")
    return name, value if equals else f"${{{name}}}"


def _header(given: str) -> tuple[str, str]:
    name, colon, value = given.partition(":")
    if not colon or not name.strip() or "\n" in given or "\r" in given:
        raise UsageProblem("A header is given as 'Name: value'.")
    return name.strip(), value.strip()


def told(entry: Mapping[str, Any], template: "Template | None") -> Iterator[str]:
    """What a person should know about an entry that was just written."""
    if template is not None:
        runs_template = template.launcher and entry.get("command") == template.launcher[0]
        if template.fetches and runs_template:
            yield f"Starting it for the first time will fetch {template.fetches}."
        yield f"Licence: {template.licence}. Set-up: {template.link}"
        if template.notes:
            yield template.notes
    elif entry.get("command") in ("npx", "uvx", "pipx", "bunx", "docker", "podman"):
        yield f"Starting it runs {one_line(str(entry['command']))}, which may fetch what it names."
