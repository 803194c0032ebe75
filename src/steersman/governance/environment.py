"""Which variables a command inherits: those named here and by the user, and never a secret."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from steersman.governance.secrets import secret_variables

_CACHES = {
    "XDG_CACHE_HOME": "",
    "PIP_CACHE_DIR": "pip",
    "UV_CACHE_DIR": "uv",
    "npm_config_cache": "npm",
    "YARN_CACHE_FOLDER": "yarn",
    "GOCACHE": "go-build",
    "GOMODCACHE": "go-mod",
}


@cache
def _usual() -> tuple[str, ...]:
    lines = Path(__file__).with_name("environment.txt").read_text(encoding="utf-8").splitlines()
    return tuple(word for line in lines if not line.startswith("#") for word in line.split())


def command_environ(environ: Mapping[str, str], also: Sequence[str] = ()) -> dict[str, str]:
    """What a command gets of an environment; `also` are names or patterns a person added."""
    secret = secret_variables(environ)
    wanted = (*_usual(), *also)
    exact = {name for name in wanted if "*" not in name}
    begin = tuple(name[:-1] for name in wanted if _begins(name))
    globs = tuple(name for name in wanted if "*" in name and not _begins(name))
    return {
        name: value
        for name, value in environ.items()
        if name not in secret
        and (
            name in exact
            or name.startswith(begin)
            or any(fnmatchcase(name, glob) for glob in globs)
        )
    }


def _begins(glob: str) -> bool:
    """Whether a pattern says no more than how a name begins."""
    return glob.endswith("*") and not any(mark in glob[:-1] for mark in "*?[")


def cache_environ(folder: str) -> dict[str, str]:
    """Where package managers keep what they fetched, in a folder that commands may write."""
    return {name: f"{folder}/{below}".rstrip("/") for name, below in _CACHES.items()}
