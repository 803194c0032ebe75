"""What git says about a repository when the host asks it.

Nothing that a repository configures is run: no hook, no fetch, no filter, no check of signatures.
"""

import subprocess
from collections.abc import Mapping

from steersman import children
from steersman.operations.running.programs import git

PATIENCE = 10.0
MOST_OUTPUT = 8 << 20
_SAFE = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.hooksPath=",
         "-c", "safe.directory=*", "-c", "core.quotePath=false", "--no-pager")  # fmt: skip


def answer(folder: str, environ: Mapping[str, str], *words: str) -> bytes | None:
    """What a question to git prints; None when it fails, or there is no repository."""
    program = git(environ, folder)
    if program is None:
        return None
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    kept |= {
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }
    try:
        ran = children.run([program, *_SAFE, *words], cwd=folder, environ=kept, seconds=PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout[:MOST_OUTPUT] if ran.returncode == 0 else None
