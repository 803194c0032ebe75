"""Which files of a workspace are indexed: those that git would see, secret ones never."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping

from steersman.operations.code.trees import languages
from steersman.operations.finding import SearchPlace, list_names

MOST_FILES = 200_000


async def listed(root: str, secret: str, environ: Mapping[str, str], top: str = "") -> list[str]:
    """The files below a folder (real path; the workspace itself when empty) that may hold code,
    relative to the workspace, in order."""
    place = SearchPlace(root, top or root, secret=secret)
    found = await list_names(place, False, environ)
    above = os.fsencode(os.path.relpath(place.folder, root))
    names = found.names if above == b"." else [above + b"/" + name for name in found.names]
    return await asyncio.to_thread(code_files, names, SearchPlace(root, root, secret=secret))


def code_files(names: Iterable[bytes], place: SearchPlace) -> list[str]:
    """Those of a listing that may hold code and are not secret."""
    secret = place.secret_rules()
    found = []
    for name in names:
        path = os.fsdecode(name)
        if (languages.of_path(path) or languages.may_be_script(path)) and not secret(name):
            found.append(path)
            if len(found) >= MOST_FILES:
                break
    return found
