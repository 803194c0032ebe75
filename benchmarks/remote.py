"""What a tool call in a workspace on another machine adds to one in a folder here, over loopback.

The same script reads a file many times, here and through an agent that a program in the place of
ssh starts; the log says when each call had its result.
"""

import json
import subprocess
from datetime import datetime
from pathlib import Path

from benchmarks.measure import PYTHON, STEER, Figure, script, world

CALLS, ROUNDS = 100, 7
LIMIT = 3.0  # milliseconds


def figures() -> list[Figure]:
    """The least of several runs, taken in turns; a run's first call, which looks for secret files,
    is not counted."""
    with world() as (folder, environ):
        read = {"name": "workspace_read_file", "arguments": {"path": "calc.py"}}
        turns = [{"tool_calls": [read]} for _ in range(CALLS)]
        model = script(folder, [*turns, {"text": "Done."}])
        ssh = folder / "ssh"
        ssh.write_text(
            "#!/bin/sh\nfor word; do last=$word; done\n"
            f'STEERSMAN_HOME={folder}/there exec sh -c "$last"\n'
        )
        ssh.chmod(0o755)
        environ |= {
            "STEERSMAN_SSH_COMMAND": str(ssh),
            "STEERSMAN_REMOTE_COMMAND": f"{PYTHON} -m steersman",
        }
        here = str(folder / "work")
        times: dict[str, list[float]] = {here: [], f"ssh://here{here}": []}
        for _ in range(ROUNDS):
            for place, found in times.items():
                found.append(_each(folder, place, model, environ))
    near, far = (min(found) for found in times.values())
    note = f"{near:.2f} ms here, {far:.2f} ms there"
    return [Figure("a remote tool call adds, over loopback", far - near, LIMIT, "ms", note)]


def _each(folder: Path, place: str, model: str, environ: dict[str, str]) -> float:
    """Milliseconds from one result to the next, with an answer of the scripted model between."""
    done = subprocess.run(
        [STEER, "run", "-w", place, "--model", model, "--json", "read"],
        env=environ,
        cwd=folder,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"steer run -w {place} failed: {done.stderr.decode()}")
    said = [json.loads(line) for line in done.stdout.splitlines()]
    results = [one for one in said if one["kind"] == "tool_result"]
    assert all(one["body"]["status"] == "ok" for one in results)
    first, last = (datetime.fromisoformat(results[at]["time"]) for at in (0, -1))
    return (last - first).total_seconds() * 1000 / (len(results) - 1)
