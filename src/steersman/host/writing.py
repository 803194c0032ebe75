"""Where the agent may write, in words: by trust, mode and folder."""

import os
from collections.abc import Mapping

from steersman.governance import modes
from steersman.identity.settings import cache_folder
from steersman.records.protection import inside
from steersman.records.settings import Settings

ALSO = {"plan": "only its plan", "spec": "docs/specs/*/*.md"}


def writable(folder: str, settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folders that can be written to; empty when nothing can."""
    if settings.trust == "restricted":
        return ()
    if settings.mode in ALSO:
        return (ALSO[settings.mode],)
    if not modes.runs_commands(settings.mode):
        return ()
    if settings.trust == "untrusted":
        return ("everything that you can write",)
    root = os.path.realpath(folder)
    return (root, _at_home(cache_folder(environ, root)))


def _at_home(path: str) -> str:
    """A path as people write it."""
    home = os.path.realpath(os.path.expanduser("~"))
    return f"~{path[len(home) :]}" if inside(path, home) else path
