"""A language server that misbehaves as it is told: `fake_server.py BEHAVIOUR [NOTES]`.

It knows one definition in every file: the first `thing = …`. What it was told is written to NOTES,
a line for each message, so that a test can see what a server sees.
"""

import json
import os
import sys
from typing import Any

BEHAVIOUR = sys.argv[1]
NOTES = sys.argv[2] if len(sys.argv) > 2 else os.devnull
TEXTS: dict[str, str] = {}


def send(message: dict[str, Any]) -> None:
    raw(json.dumps({"jsonrpc": "2.0", **message}).encode())


def raw(body: bytes) -> None:
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def receive() -> dict[str, Any]:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    if not length:
        sys.exit(0)
    message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    with open(NOTES, "a", encoding="utf-8") as notes:
        notes.write(json.dumps(message) + "\n")
    return message


def answer(message: dict[str, Any], result: Any) -> None:
    send({"id": message["id"], "result": result})


def span(line: int, start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def things(uri: str) -> list[dict[str, Any]]:
    found = []
    for number, line in enumerate(TEXTS.get(uri, "").split("\n")):
        at = line.find("thing")
        if at >= 0:
            units = len(line[:at].encode("utf-16-le")) // 2
            found.append(
                {
                    "name": "thing",
                    "kind": 13,
                    "range": span(number, units, units + len(line) - at),
                    "selectionRange": span(number, units, units + 5),
                }
            )
    return found


def initialize(message: dict[str, Any]) -> None:
    provided: dict[str, Any] = {
        "documentSymbolProvider": True,
        "definitionProvider": True,
        "referencesProvider": True,
    }
    if BEHAVIOUR == "asks":
        for number, method in enumerate(
            [
                "workspace/configuration",
                "client/registerCapability",
                "window/workDoneProgress/create",
                "workspace/workspaceFolders",
                "workspace/applyEdit",
                "window/showMessageRequest",
                "workspace/diagnostic/refresh",
                "made/up",
            ]
        ):
            params: Any = {"items": [{"section": "fake.depth"}, {"section": "other"}], "edit": {}}
            send({"id": f"q{number}", "method": method, "params": params})
    answer(message, {"capabilities": provided})


def request(message: dict[str, Any]) -> None:
    uri = message["params"].get("textDocument", {}).get("uri", "")
    match BEHAVIOUR:
        case "silent":
            return
        case "dies":
            print("out of cheese", file=sys.stderr, flush=True)
            os._exit(3)
        case "garbage":
            sys.stdout.buffer.write(b"Segmentation fault (core dumped)\n" * 400)
            sys.stdout.buffer.flush()
        case "not-json":
            raw(b"{not json")
        case "huge":
            sys.stdout.buffer.write(b"Content-Length: 99999999999\r\n\r\n")
            sys.stdout.buffer.flush()
        case "errors":
            fault = {"code": -32603, "message": "the index is broken"}
            send({"id": message["id"], "error": fault})
        case "busy" if not os.path.exists(NOTES + ".asked"):
            open(NOTES + ".asked", "w").close()
            send({"id": message["id"], "error": {"code": -32801, "message": "content modified"}})
        case "odd":
            answer(message, [{"name": 12}, "nonsense", None, *things(uri)])
        case _:
            answer(message, things(uri))


def main() -> None:
    held: list[dict[str, Any]] = []
    while True:
        message = receive()
        method = message.get("method", "")
        params = message.get("params") or {}
        if method == "initialize":
            initialize(message)
        elif method in ("textDocument/didOpen", "textDocument/didChange"):
            document = params["textDocument"]
            changes = params.get("contentChanges")
            TEXTS[document["uri"]] = changes[0]["text"] if changes else document["text"]
            if BEHAVIOUR == "publishes":
                said = [{"range": span(0, 2, 3), "message": "odd", "severity": 2, "code": 7}]
                told = {"uri": document["uri"], "diagnostics": said}
                send({"method": "textDocument/publishDiagnostics", "params": told})
        elif method == "shutdown":
            answer(message, None)
        elif method == "exit":
            return
        elif method and "id" in message:
            held.append(message)
            if BEHAVIOUR == "disorder" and len(held) < 2:
                continue
            while held:
                request(held.pop())


main()
