"""An MCP server in plain lines of JSON, with manners that are chosen by words on its command line.

Needs nothing but Python, so that it starts fast and can misbehave as no library would.
"""

import json
import os
import subprocess
import sys
import threading
import time

MANNERS = set(sys.argv[1:])
MODERN = "2026-07-28"
OBJECT = {"type": "object", "properties": {"text": {"type": "string"}}}
LOCK = threading.Lock()
answers = {}


def say(message):
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def result(number, value):
    if "modern" in MANNERS:
        value = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **value}
    say({"id": number, "result": value})


def text(number, words, **more):
    result(number, {"content": [{"type": "text", "text": words}], **more})


def tool(name, **more):
    return {"name": name, "description": f"Does {name}.", "inputSchema": OBJECT, **more}


TOOLS = [tool("echo", annotations={"readOnlyHint": True}), tool("die"), tool("hang")]
SLOPPY = [
    tool("good"),
    tool("empty", inputSchema={}),
    {"name": "bare"},
    tool("string", inputSchema="text"),
    tool("listed", inputSchema={"type": ["object", "null"], "required": "a"}),
    tool("shouting", annotations="very", description=None),
    tool("hinting", annotations={"readOnlyHint": "yes", "destructiveHint": False}),
    tool("promising", outputSchema={"type": "array"}),
    tool("decorated", icons=[{"no": "src"}], _meta=7, title=["x"], execution="fast"),
    tool("good", description="again"),
    {"description": "nameless"},
    None,
    tool("odd", inputSchema={"type": "object", "properties": {"a": "string", "b": True}}),
]


def ask(method, params):
    """A request of the server's own, whose answer comes later."""
    number = f"own-{len(answers)}"
    answers[number] = threading.Event()
    say({"id": number, "method": method, "params": params})
    answers[number].wait()
    return answers[number].answer


def call(number, params):
    arguments = params.get("arguments") or {}
    match params["name"]:
        case "echo" | "good":
            text(number, arguments.get("text", ""))
        case "die":
            print("dying now, with", os.environ.get("API_TOKEN", "nothing"), file=sys.stderr)
            sys.stderr.flush()
            os._exit(int(arguments.get("code", 3)))
        case "hang":
            pass
        case "doze":
            time.sleep(600)
        case "close":
            os.close(1)
            time.sleep(600)
        case "huge":
            text(number, "x" * int(arguments["size"]))
        case "progress":
            token = params["_meta"]["progressToken"]
            for step in range(int(arguments.get("steps", 3))):
                told = {"progressToken": token, "progress": step + 1, "total": 3, "message": "on"}
                say({"method": "notifications/progress", "params": told})
            text(number, "done")
        case "flood":
            for step in range(int(arguments["count"])):
                data = {"level": "info", "data": f"log {step}"}
                say({"method": "notifications/message", "params": data})
            text(number, "still here")
        case "garbage":
            for _ in range(int(arguments["count"])):
                sys.stdout.write("Traceback (most recent call last): {not json\n")
            text(number, "after garbage")
        case "change":
            TOOLS.append(tool("new"))
            say({"method": "notifications/tools/list_changed"})
            text(number, "changed")
        case "environ":
            text(number, json.dumps(dict(os.environ)))
        case "refuse":
            say({"id": number, "error": {"code": -32000, "message": "not today"}})
        case "locked":
            page = {"mode": "url", "message": "Sign in", "url": "https://example.com/in"}
            data = {"elicitations": [{**page, "elicitationId": "e1"}]}
            error = {"code": -32042, "message": "sign in first", "data": data}
            say({"id": number, "error": error})
        case "odd_error":
            say({"id": number, "error": "just a string"})
        case "blocks":
            result(number, json.loads(arguments["result"]))
        case "child":
            child = subprocess.Popen(["sleep", "600"])
            text(number, str(child.pid))
        case "sample" | "elicit" | "visit" | "roots" as wish:
            threading.Thread(target=wishing, args=(number, wish, params), daemon=True).start()
        case unknown:
            say({"id": number, "error": {"code": -32602, "message": f"no tool {unknown}"}})


WISHES = {
    "sample": (
        "sampling/createMessage",
        {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 9},
    ),
    "elicit": (
        "elicitation/create",
        {
            "message": "Which branch?",
            "requestedSchema": {
                "type": "object",
                "properties": {"branch": {"type": "string"}},
            },
        },
    ),
    "visit": (
        "elicitation/create",
        {
            "mode": "url",
            "message": "Sign in",
            "url": "https://example.com/in",
            "elicitationId": "e1",
        },
    ),
    "roots": ("roots/list", {}),
}


def wishing(number, wish, params):
    method, wanted = WISHES[wish]
    if "modern" not in MANNERS:
        text(number, json.dumps(ask(method, wanted)))
        return
    if "inputResponses" in params:
        given = {"answer": params["inputResponses"]["it"], "state": params.get("requestState")}
        text(number, json.dumps(given))
        return
    wanted = {name: value for name, value in wanted.items() if name != "elicitationId"}
    request = {"method": method, "params": wanted}
    say(
        {
            "id": number,
            "result": {
                "resultType": "input_required",
                "inputRequests": {"it": request},
                "requestState": "remember me",
            },
        }
    )


def listing(number, params):
    if "sloppy" in MANNERS:
        result(number, {"tools": SLOPPY})
    elif "pages" in MANNERS:
        page = int((params or {}).get("cursor") or 0)
        tools = [tool(f"tool{page * 10 + one}") for one in range(10)]
        result(
            number, {"tools": tools, "nextCursor": str(page + 1)} if page < 4 else {"tools": tools}
        )
    elif "endless" in MANNERS:
        result(number, {"tools": [tool("same")], "nextCursor": "again"})
    else:
        result(number, {"tools": TOOLS})


def greeting(number, params):
    if "grumpy" in MANNERS:
        print("config file is missing", os.environ.get("API_TOKEN", ""), file=sys.stderr)
        sys.exit(7)
    if "modern" in MANNERS and "legacy" not in MANNERS:
        data = {"supported": [MODERN], "requested": params["protocolVersion"]}
        say({"id": number, "error": {"code": -32022, "message": "newer only", "data": data}})
        return
    about = (
        {"name": "rough", "version": 1}
        if "sloppy" in MANNERS
        else {"name": "rough", "version": "1.0"}
    )
    greeted = {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": about,
        "instructions": "Use it gently.",
    }
    say({"id": number, "result": greeted})


def discovery(number):
    if "modern" in MANNERS:
        about = {"name": "rough", "version": "2.0"}
        result(
            number,
            {
                "supportedVersions": [MODERN],
                "capabilities": {"tools": {"listChanged": "noisy" in MANNERS}},
                "_meta": {"io.modelcontextprotocol/serverInfo": about},
            },
        )
    elif "nervous" in MANNERS:
        print("what was that?", file=sys.stderr)
        sys.exit(9)
    elif "deaf" not in MANNERS:
        say({"id": number, "error": {"code": -32601, "message": "Method not found"}})


def listened(number):
    stamp = {"_meta": {"io.modelcontextprotocol/subscriptionId": number}}
    acknowledged = {"notifications": {"toolsListChanged": True}, **stamp}
    say({"method": "notifications/subscriptions/acknowledged", "params": acknowledged})
    say({"method": "notifications/tools/list_changed", "params": stamp})


def heard(message):
    number, params = message.get("id"), message.get("params") or {}
    match message.get("method"):
        case None:
            answers[number].answer = message.get("result", message.get("error"))
            answers[number].set()
        case "initialize":
            greeting(number, params)
        case "server/discover":
            discovery(number)
        case "tools/list":
            listing(number, params)
        case "tools/call":
            call(number, params)
        case "subscriptions/listen":
            listened(number)
        case _ if number is not None and "deaf" not in MANNERS:
            say({"id": number, "error": {"code": -32601, "message": "Method not found"}})


if record := os.environ.get("RECORD"):
    with open(record, "a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
if "mute" in MANNERS:
    time.sleep(600)
if "banner" in MANNERS:
    print("Rough server 1.0 is listening …")
for line in sys.stdin:
    heard(json.loads(line))
    if path := os.environ.get("HEARD"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(line)
