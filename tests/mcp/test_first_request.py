"""What thirty servers with six hundred tools cost a thread that does not use them."""

import json
import sys

from steersman.intelligence.tokens import counter_for
from tests.cli.kit import DONE, StrictSteer

SERVER = """
import json, pathlib, sys
pathlib.Path(sys.argv[1], "started-" + sys.argv[2]).touch()
TOOLS = [{"name": f"tool_{n}", "description": "Does a thing with many words. " * 8,
          "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
         for n in range(20)]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answers = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                              "serverInfo": {"name": "s", "version": "1"}},
               "tools/list": {"tools": TOOLS}}
    found = answers.get(asked["method"])
    answer = {"result": found} if found else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""
ABOUT = "Issues, pull requests, releases and everything else that teams of this kind work with."


def test_the_first_request_says_little_of_many_servers_and_starts_none(
    environ, workspace, tmp_path
):
    program = tmp_path / "server.py"
    program.write_text(SERVER)
    entries = {
        f"server-number-{n}": {
            "command": sys.executable,
            "args": [str(program), str(tmp_path), str(n)],
            "description": ABOUT,
        }
        for n in range(30)
    }
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": entries}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
    steer = StrictSteer(environ, workspace)
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"turns": [DONE]}))

    def specs() -> list[dict[str, str]]:
        return [json.loads(line) for line in steer("tools", "--json").stdout.splitlines()]

    count = counter_for("openai:gpt-5", environ).count
    every = specs()
    of_servers = [spec for spec in every if spec["name"].startswith("mcp_")]
    assert count(json.dumps(of_servers)) <= 900
    assert sum(count(spec["description"]) for spec in every) <= 1500
    assert steer("run", "x", "--model", f"scripted:{script}").returncode == 0
    assert list(tmp_path.glob("started-*")) == []
    # Once their lists are known, the first request is still the same.
    found = steer("call", "mcp_list_tools", '{"words": "thing"}')
    assert found.returncode == 0, found.stderr
    assert len(list(tmp_path.glob("started-*"))) == 30
    assert specs() == every
