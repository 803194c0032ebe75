"""Source files that this very command line wrote, read before a compiler or runner gets them."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.code import scan
from steersman.governance.guard.marks import FILE, literal
from steersman.governance.guard.programs.shells import feed

_LANGUAGES = {
    "go": "go",
    "rs": "rust",
    "c": "c",
    "cc": "c",
    "cpp": "c",
    "cxx": "c",
    "h": "c",
    "m": "c",
    "java": "java",
    "kt": "java",
    "kts": "java",
    "groovy": "groovy",
    "scala": "java",
    "swift": "swift",
    "zig": "c",
    "nim": "nim",
    "cr": "ruby",
    "d": "c",
    "hs": "haskell",
    "ml": "ocaml",
    "cs": "java",
    "fs": "java",
    "dart": "java",
    "ex": "elixir",
    "exs": "elixir",
    "jl": "julia",
    "ts": "node",
    "tsx": "node",
    "js": "node",
    "mjs": "node",
    "cjs": "node",
    "py": "python",
    "rb": "ruby",
    "pl": "perl",
    "t": "perl",
    "php": "php",
    "lua": "lua",
}


def read_sources(call: ProgramCall) -> None:
    """Judge the code that is about to be built or run, as far as this line wrote it."""
    files, call.scene.files = call.scene.files, {}
    for path, made in files.items():
        name = path.rsplit("/", 1)[-1]
        language = _LANGUAGES.get(name.rpartition(".")[2])
        if not made or made == FILE:
            continue
        if name == "package.json":
            for text in re.findall(r":\s*\"((?:\\.|[^\"\\])+)\"", made)[:20]:
                call.script(text.replace('\\"', '"'))
                call.wrapper = False
        elif language is not None and feed(call, made):
            scan(call.shell, literal(made), language)
    call.scene.files = files
