"""`steer index ask` against aider's repo map, on the standard library, in one run.

Both begin without anything, then answer again after one file was changed. Aider comes from PyPI
into an environment of its own in the user's cache folder (some 700 MB), so this is not among the
default subjects: `python -m benchmarks ranking`.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import PYTHON, Figure
from benchmarks.tree import Spent, spent

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steersman"
AIDER = "aider-chat==0.86.2"
MAP = str(Path(__file__).with_name("aider_map.py"))
REPEATS = 3
LIMIT = 600.0
QUESTION = "quadratic time in cookie parsing: how SimpleCookie unquotes backslash escapes"
ASK = "import sys; from steersman.ports.cli.index import command; command(sys.argv[1:])"


def figures() -> list[Figure]:
    """CPU of a first answer and of one after a change, against aider's; our memory."""
    python = aider()
    with TemporaryDirectory(prefix="steersman-bench-") as name:
        folder = Path(name)
        ours, theirs = folder / "ours", folder / "theirs"
        for copy in (ours, theirs):
            _plant(copy)
        environ = {"PATH": os.environ["PATH"], "HOME": name, "STEERSMAN_HOME": f"{name}/data"}
        task = {"root": str(theirs), "files": python_files(theirs), "words": QUESTION.split()}
        (folder / "task.json").write_text(json.dumps(task))
        # A shell, because a task is too long for an argument.
        peer = ["sh", "-c", f'exec "{python}" "{MAP}" < "{folder}/task.json"']
        own = [PYTHON, "-c", ASK, "ask", QUESTION]
        cold_peer, cold = _run(peer, environ, theirs), _run(own, environ, ours)
        warm_peer, warm = [], []
        for number in range(REPEATS):
            for copy in (ours, theirs):
                with (copy / "textwrap.py").open("a") as file:
                    file.write(f"\n\ndef added_{number}(text):\n    return dedent(text)\n")
            warm_peer.append(_run(peer, environ, theirs).cpu)
            warm.append(_run(own, environ, ours).cpu)
        shutil.rmtree(folder / "data")
        memory = _run(own, environ, ours, watch=True).memory / 1e6
        memory = max(memory, _run(own, environ, ours, watch=True).memory / 1e6)
    first, again = cold.cpu / cold_peer.cpu, min(warm) / min(warm_peer)
    seconds = f"{cold.cpu:.1f} s against {cold_peer.cpu:.1f} s"
    repeat = f"{min(warm):.2f} s against {min(warm_peer):.1f} s"
    return [
        Figure("ranked context, first, CPU, against aider's map", first, 0.4, "×", seconds),
        Figure("the same after a file was changed, CPU", again, 0.1, "×", repeat),
        Figure("ranked context, first, peak memory", memory, 150, "MB"),
    ]


def aider() -> str:
    """The Python of an environment that has aider; made once."""
    folder = CACHE / "aider"
    python = folder / "bin" / "python"
    mark = folder / "installed"
    if not (mark.exists() and mark.read_text() == AIDER):
        print(f"installing {AIDER} …", file=sys.stderr, flush=True)
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", AIDER], check=True)
        mark.write_text(AIDER)
    return str(python)


def python_files(root: Path) -> list[str]:
    """The Python files below a folder, relative to it."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.py") if path.is_file())


def _plant(copy: Path) -> None:
    left_out = shutil.ignore_patterns("site-packages", "__pycache__", "*.pyc", "*.so", "*.a")
    shutil.copytree(sysconfig.get_path("stdlib"), copy, ignore=left_out)


def _run(
    command: Sequence[str], environ: dict[str, str], cwd: Path, *, watch: bool = False
) -> Spent:
    took = spent(command, environ, cwd, watch=watch, limit=LIMIT)
    if took.code:
        raise SystemExit(f"{command[0]} failed: {took.said}")
    return took
