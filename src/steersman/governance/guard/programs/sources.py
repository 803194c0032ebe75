"""Source files that this very command line wrote, read before a compiler or runner gets them."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.code import scan
from steersman.governance.guard.effects import remote_code
from steersman.governance.guard.marks import FILE, literal
from steersman.governance.guard.options import listed
from steersman.governance.guard.programs.shells import feed
from steersman.records.patterns import pattern
from steersman.records.runners import readings

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


# Code that no text shows, and files that decide what container engines do.
_COMPILED = frozenset(listed("jar war class dll exe wasm nix gradle vim el"))
_CONTAINERS = pattern(
    r"(?i)(?:.*\.)?(?:Docker|Container)file(?:\..*)?\Z|(?:docker-)?compose[\w.-]*\.ya?ml\Z"
)
_ENGINES = frozenset(listed("docker docker-compose podman podman-compose nerdctl"))


def _decides(call: ProgramCall, name: str) -> bool:
    """True when a file of this name decides what the program runs, even if nobody can read it."""
    if call.name in _ENGINES or _CONTAINERS.match(name):
        return call.name in _ENGINES and _CONTAINERS.match(name) is not None
    return name in readings() or name.rpartition(".")[2] in _COMPILED


def read_sources(call: ProgramCall) -> None:
    """Judge the code that is about to be built or run, as far as this line wrote it."""
    files, call.scene.files = call.scene.files, {}
    for path, made in files.items():
        name = path.rsplit("/", 1)[-1]
        language = _LANGUAGES.get(name.rpartition(".")[2])
        if not made or made == FILE:
            continue
        if _decides(call, name) and remote_code(made) in ("net", "installer"):
            feed(call, made)
        elif call.name in _ENGINES:
            continue
        elif readings().get(name) == "scripts":
            for text in re.findall(r":\s*\"((?:\\.|[^\"\\])+)\"", made)[:20]:
                call.script(text.replace('\\"', '"'))
                call.wrapper = False
        elif language is not None and feed(call, made):
            scan(call.shell, literal(made), language)
    call.scene.files = files
