"""What the outline of 2,000 files of the standard library costs, against universal-ctags in the
same run: from nothing, and from the index when no file changed. Both write all they found."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import PYTHON, Figure, cost

FILES = 2_000
RUNS = 3
COLD = """
import sys
import msgspec
from steersman.operations.code.trees.languages import of_path
from steersman.operations.code.trees.outline import outline
from steersman.operations.code.trees.reading import Unreadable
encode = msgspec.json.Encoder().encode
with open(sys.argv[1]) as listed, open(sys.argv[2], "wb") as out:
    for path in listed.read().splitlines():
        with open(path, "rb") as file:
            try:
                found = outline(file.read(), of_path(path))
            except Unreadable:
                continue
        out.write(encode((path, found)) + b"\\n")
"""
BUILD = """
import sys
from steersman.operations.code.index.build import update
from steersman.operations.code.index.store import Index
with open(sys.argv[1]) as listed:
    files = [path[1:] for path in listed.read().splitlines()]
print(update("/", Index.open(sys.argv[2]), files).read)
"""
WARM = """
import os, sys
import msgspec
from steersman.operations.code.index.store import Index
index = Index.open(sys.argv[2])
encode = msgspec.json.Encoder().encode
known = index.files()
with open(sys.argv[1]) as listed:
    for path in listed.read().splitlines():
        now, then = os.stat(path), known[path[1:]]
        assert (now.st_mtime_ns, now.st_size) == (then.mtime_ns, then.size)
with open(sys.argv[3], "wb") as out:
    for path, found in index.outlines():
        out.write(encode((path, found)) + b"\\n")
"""


def figures() -> list[Figure]:
    """Our CPU time against that of ctags, measured in turn; the least of several runs each."""
    ctags = _ctags()
    environ = {"PATH": os.environ["PATH"]}
    with TemporaryDirectory(prefix="steersman-bench-") as name:
        folder = Path(name)
        listed, index, tags = folder / "files", folder / "index.db", folder / "tags"
        files = _files()
        listed.write_text("\n".join(files) + "\n")
        theirs_command = [ctags, "--options=NONE", "--languages=python", "--fields=+neS"]
        theirs_command += ["-f", str(tags), "-L", str(listed)]
        cold_command = [PYTHON, "-c", COLD, str(listed), str(folder / "cold")]
        warm_command = [PYTHON, "-c", WARM, str(listed), str(index), str(folder / "warm")]
        build = cost([PYTHON, "-c", BUILD, str(listed), str(index)], environ, folder).cpu
        theirs, cold, warm = [], [], []
        for _ in range(RUNS):
            theirs.append(cost(theirs_command, environ, folder).cpu)
            cold.append(cost(cold_command, environ, folder).cpu)
            warm.append(cost(warm_command, environ, folder).cpu)
        found = _count(folder / "warm")
    ctags_took = min(theirs)
    what = f"ctags took {ctags_took:.2f} s"
    made = f"{found:,} definitions; the index with uses took {build:.1f} s"
    first, again = min(cold) / ctags_took, min(warm) / ctags_took
    title = f"outline of {len(files):,} files, against universal-ctags"
    return [
        Figure(f"{title}, from nothing", first, 12, "×", f"{what}; {made}"),
        Figure(f"{title}, from the index", again, 0.3, "×", what),
    ]


def _ctags() -> str:
    found = shutil.which("ctags")
    if found is not None:
        told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
        if "Universal Ctags" in told.stdout:
            return found
    raise SystemExit(
        "There is no universal-ctags to measure against; `apt-get install universal-ctags` "
        "(or `brew install universal-ctags`) brings it."
    )


def _files() -> list[str]:
    """Files of the standard library, then of installed packages until there are enough."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    packages = Path(sysconfig.get_path("purelib"))
    found = [p for p in sorted(stdlib.rglob("*.py")) if "site-packages" not in p.parts]
    found += sorted(packages.rglob("*.py")) if len(found) < FILES else []
    return [os.path.realpath(path) for path in found[:FILES] if path.is_file()]


def _count(path: Path) -> int:
    import msgspec

    decode = msgspec.json.Decoder(tuple[str, list[object]]).decode
    with path.open("rb") as file:
        return sum(len(decode(line)[1]) for line in file)
