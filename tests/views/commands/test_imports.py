"""Commands and plain mode are there without the screen: nobody pays for what they do not see."""

import subprocess
import sys

HEAVY = ("textual", "rich", "mcp", "httpx", "tree_sitter")
CODE = f"""
import sys
from steersman.views.commands.registry import own_commands
import steersman.views.commands.files, steersman.views.commands.palette
import steersman.ports.tui.plain
assert len(own_commands()) > 25
print([name for name in {HEAVY} if name in sys.modules])
"""


def test_no_heavy_library_is_imported():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
