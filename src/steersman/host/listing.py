"""The names of a folder's files, as tools list them, and which of them are secret."""

import asyncio
from collections.abc import Mapping

from msgspec import Struct

from steersman.governance.secret_finder import Finder
from steersman.operations.finding import SearchPlace, list_names
from steersman.records.secret_files import SecretFiles


class FileNames(Struct, frozen=True):
    """Files below a folder that `.gitignore` does not leave out; `complete` unless too many."""

    names: list[bytes]
    secret_files: SecretFiles
    complete: bool


async def file_names(folder: str, environ: Mapping[str, str]) -> FileNames:
    """Look at a folder; raises `ToolProblem` when it cannot be listed."""
    found = await list_names(SearchPlace(folder, folder), False, environ)
    secret_files, _ = await asyncio.to_thread(Finder(folder).find, deep=False)
    return FileNames(found.names, secret_files, found.complete)
