"""What a language server gets first: who asks, where, and what we can do. Pure."""

from typing import Any

from steersman.operations.code.lsp.kinds import EVERY
from steersman.operations.code.lsp.positions import OFFERED, uri_of
from steersman.operations.code.lsp.servers import LanguageServer

_KINDS = {"symbolKind": {"valueSet": list(EVERY)}}
_ABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": list(OFFERED)},
    "window": {"workDoneProgress": True},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "applyEdit": False,
        "symbol": _KINDS,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "diagnostics": {"refreshSupport": True},
    },
    "textDocument": {
        "synchronization": {"didSave": False},
        "documentSymbol": {**_KINDS, "hierarchicalDocumentSymbolSupport": True},
        "definition": {"linkSupport": True},
        "references": {},
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False},
        "publishDiagnostics": {"versionSupport": True},
    },
}


def greeting(server: LanguageServer, folder: str) -> dict[str, Any]:
    """The parameters of `initialize` for a server in a folder."""
    uri = uri_of(folder)
    return {
        "processId": None,  # the host is not in sight of a confined server
        "clientInfo": {"name": "steersman"},
        "rootUri": uri,
        "rootPath": folder,
        "workspaceFolders": [{"uri": uri, "name": "workspace"}],
        "initializationOptions": server.options or None,
        "capabilities": _ABILITIES,
    }
