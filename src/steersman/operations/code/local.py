"""What there is to know code with when no MCP server does: the programs and grammars here."""

from collections.abc import Mapping
from typing import Any

from steersman.operations.code.backend import Backend
from steersman.operations.code.lsp.backend import language_servers
from steersman.operations.running.companions import Companions


def local_backends(
    root: str,
    state: str,
    companions: Companions,
    environ: Mapping[str, str],
    servers: Mapping[str, Any],
) -> list[Backend]:
    """Backends in the order of preference: checkers, language servers, syntax trees."""
    return [*language_servers(root, companions, environ, servers)]
