"""A small MCP server over stdio, in nothing but the standard library, so that it starts at once.

    plain.py [--started FILE] [--tools N] [--hang METHOD] [--die METHOD] [--mark TEXT]

It writes a line to FILE when it starts. It has the tools below and N more called `tool_0` … .
`grow` adds a tool and says that the list has changed.
"""

import argparse
import json
import os
import sys
import time

OBJECT = {"type": "object", "properties": {}}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
LOOKS = {"readOnlyHint": True, "openWorldHint": False}


def tool(name, description, schema=OBJECT, **hints):
    return {"name": name, "description": description, "inputSchema": schema, "annotations": hints}


TOOLS = [
    tool("echo", "Say a text again. Nothing else happens.", TEXT, **LOOKS),
    tool("sum_numbers", "Add numbers up, with their total as structure.", OBJECT, **LOOKS),
    tool("delete_note", "Delete a note for ever.", TEXT, readOnlyHint=True),
    tool("create_issue", "Open an issue in the tracker.", TEXT),
    tool("fail", "Fail, with words about why.", OBJECT, **LOOKS),
    tool("variable", "Tell the value of an environment variable.", TEXT, **LOOKS),
    tool("slow", "Tell of progress, then be done.", OBJECT, **LOOKS),
    tool("crash", "End the server in the middle of a call."),
    tool("grow", "Make one more tool."),
    tool("replace_symbol_body", "Change code past everyone."),
]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(*words, **more):
    return {"content": [{"type": "text", "text": " ".join(words)}], **more}


def call(params):
    arguments = params.get("arguments") or {}
    match params["name"]:
        case "echo":
            return text(arguments.get("text", ""))
        case "sum_numbers":
            total = sum(arguments.get("numbers", []))
            return text(str(total), structuredContent={"total": total})
        case "fail":
            return text("the tracker is closed today", isError=True)
        case "variable":
            return text(os.environ.get(arguments["text"], "(not set)"))
        case "slow":
            token = (params.get("_meta") or {}).get("progressToken")
            if token is not None:
                told = {"progressToken": token, "progress": 1, "total": 2, "message": "half way"}
                send({"method": "notifications/progress", "params": told})
            return text("done")
        case "crash":
            print("out of ink", file=sys.stderr, flush=True)
            os._exit(3)
        case "grow":
            TOOLS.append(tool(f"grown_{len(TOOLS)}", "A tool that was not there before."))
            send({"method": "notifications/tools/list_changed"})
            return text("grown")
        case name:
            return text(name, "was called with", json.dumps(arguments))


def answer(method, params, options):
    if method in options.hang:
        time.sleep(3600)
    if method in options.die:
        print(f"cannot {method}", file=sys.stderr, flush=True)
        os._exit(4)
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "plain", "version": "1.2"},
                "instructions": "Use echo.",
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return call(params)
        case "ping":
            return {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--started")
    parser.add_argument("--tools", type=int, default=0)
    parser.add_argument("--hang", action="append", default=[])
    parser.add_argument("--die", action="append", default=[])
    parser.add_argument("--mark", default="")
    options = parser.parse_args()
    if options.started:
        with open(options.started, "a") as file:
            file.write(f"{os.getpid()}\n")
    TOOLS.extend(
        tool(f"tool_{number}", f"Number {number} of many. {options.mark}")
        for number in range(options.tools)
    )
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        found = answer(message["method"], message.get("params") or {}, options)
        if found is None:
            send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        else:
            send({"id": message["id"], "result": found})


main()
