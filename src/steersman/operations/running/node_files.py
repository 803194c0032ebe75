"""Files that say how Node and its like load a script, beside the script itself."""

import os
import re
from collections.abc import Iterable, Iterator
from glob import glob

import msgspec

from steersman.operations.running.sight import text_of
from steersman.records.protection import inside
from steersman.records.secret_files import SKIPPED

MOST_PACKAGES = 32
ENDINGS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_STARTED = re.compile(r"\b(?:node|nodejs|deno|bun|tsx|ts-node)\b")
_OWN_NAMES = re.compile(r"[\"'`]#[\w@/.-]")  # import "#rules", which a package.json explains
_SETTINGS = ("tsconfig.json", "jsconfig.json", "bunfig.toml", "deno.json", "deno.jsonc")
_OTHERS = re.compile(r"\b(?:deno|bun|tsx|ts-node)\b")


def beside(text: str, file: str, root: str) -> Iterator[str]:
    """What says how a script is loaded that a text starts or is, from its folder up to the root.

    `"type"` in the nearest package.json decides what the language is; who writes one that
    cannot be read makes each run fail. It need not be there yet.
    """
    plain = "." not in os.path.basename(file) and _STARTED.search(text)
    if not file.endswith(ENDINGS) and not plain:
        return
    names = ("package.json", *(_SETTINGS if _OTHERS.search(text) else ()))
    folder = os.path.dirname(file)
    while inside(folder, root):
        yield from (os.path.join(folder, name) for name in names)
        folder = os.path.dirname(folder)


def packages(folder: str) -> list[str]:
    """The files of the packages below a folder, for whichever of them a name means."""
    found = (glob(f"{deep}/package.json", root_dir=folder) for deep in ("*", "*/*", "*/*/*"))
    each = [name for names in found for name in names if SKIPPED.isdisjoint(name.split("/"))]
    return [os.path.join(folder, name) for name in sorted(each)[:MOST_PACKAGES]]


def explained(text: str, files: Iterable[str]) -> list[str]:
    """The places that names with `#` stand for, when a script uses such."""
    if not _OWN_NAMES.search(text):
        return []
    return [place for file in files for place in _imports(text_of(file))]


def _imports(text: str) -> Iterator[str]:
    try:
        said = msgspec.json.decode(text, type=dict[str, object]).get("imports")
    except (msgspec.MsgspecError, RecursionError):
        return
    waiting = [said]
    for one in waiting:  # grows
        waiting += one.values() if isinstance(one, dict) else ()
        waiting += one if isinstance(one, list) else ()
        if isinstance(one, str):
            yield one.replace("/*", "")
