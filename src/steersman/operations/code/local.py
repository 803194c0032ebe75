"""What knows code when no MCP server does: programs and grammars of this machine."""

from collections.abc import Callable, Mapping
from typing import Any

from steersman.operations.code.backend import Backend
from steersman.operations.code.checkers.backend import CheckerBackend
from steersman.operations.code.index.store import Index
from steersman.operations.code.lsp.backend import language_servers
from steersman.operations.code.trees.backend import TreeBackend
from steersman.operations.running.companions import Companions


def local_backends(
    root: str,
    companions: Companions,
    environ: Mapping[str, str],
    servers: Mapping[str, Any],
    index: Callable[[], Index | None],
) -> list[Backend]:
    """Backends in the order of preference: checkers, language servers, syntax trees."""
    return [
        CheckerBackend(root, companions, environ),
        *language_servers(root, companions, environ, servers),
        TreeBackend(root, environ, index),
    ]
