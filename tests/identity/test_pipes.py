"""A pipe in the place of a file that is read by its name is refused or passed over, not waited for.

Each case runs in a process of its own, so that one that waits can be ended.
"""

import os
import subprocess
import sys

import pytest

PATIENCE = 60
CASES = {
    "config.toml": "from steersman.identity.settings import read_file\nread_file(path)",
    "keys.toml": "from steersman.ports.tui.keys import load_keys\n"
    "assert load_keys({'XDG_CONFIG_HOME': str(path.parent.parent)}).problems",
    ".git/HEAD": "from steersman.views.facts import branch\n"
    "assert branch(str(path.parents[1])) == ''",
    "a.png": "from steersman.views.images import images_from\nimages_from([str(path)])",
    "package.json": "from steersman.operations.code.lsp.programs import _version\n"
    "assert _version(str(path.parent)) == 0",
    "pyproject.toml": "from steersman.operations.code.checkers.table import _settings\n"
    "assert not _settings(str(path), 0, 0)",
    "mcp.json": "from steersman.identity.mcp_files import remove\nremove(path, 'x')",
    "AGENTS.md": "from steersman.identity.instructions import Instructions\n"
    "one = Instructions(str(path.parent), {})\nassert not one.beginning() and one.notes",
    ".mcp.json": "from steersman.identity.mcp_servers import find\n"
    "found = find(str(path.parent), {}, trusted=True)\nassert not found.servers and found.problems",
}
PROGRAM = """
import sys
from pathlib import Path
from steersman.records.errors import UsageProblem
path = Path(sys.argv[1])
try:
    exec(sys.argv[2])
except UsageProblem as problem:
    assert "regular file" in str(problem), problem
"""


@pytest.mark.parametrize("name", CASES)
def test_a_pipe_is_not_waited_for(tmp_path, name):
    path = tmp_path / "steersman" / name
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    line = [sys.executable, "-c", PROGRAM, path, CASES[name]]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
