"""The command that the conformance suite starts for a scenario: `python conformance_call.py SOCKET
URL`. It only passes the scenario on to a client that has long been loaded, and ends as that does.
"""

import json
import os
import socket
import sys

SCENARIO, CONTEXT = "MCP_CONFORMANCE_SCENARIO", "MCP_CONFORMANCE_CONTEXT"

with socket.socket(socket.AF_UNIX) as line:
    line.connect(sys.argv[1])
    told = {name: os.environ[name] for name in (SCENARIO, CONTEXT) if name in os.environ}
    line.sendall(json.dumps({"url": sys.argv[-1], "environ": told}).encode())
    line.shutdown(socket.SHUT_WR)
    answer = b"".join(iter(lambda: line.recv(65536), b"")).decode()
code, _, said = answer.partition("\n")
sys.stderr.write(said)
sys.exit(int(code or 70))
