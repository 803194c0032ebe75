"""Files in which a language server is worth asking: some of its languages, those with a word."""

from __future__ import annotations

import os
from collections.abc import Mapping

from steersman.operations.code.lsp.servers import LanguageServer
from steersman.operations.finding import Query, SearchPlace, find, patterns
from steersman.operations.tool import Bench
from steersman.records.errors import ToolProblem
from steersman.records.secret_files import SKIPPED

MOST_LOOKED_AT = 4_000


def first_file(server: LanguageServer, folder: str) -> str:
    """Some file of the server's languages below a folder, the nearest; looks only so far."""
    folders = [folder]
    looked = 0
    for place in folders:
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        looked += len(names)
        for name in names:
            path = os.path.join(place, name)
            if server.language(name) and os.path.isfile(path) and not os.path.islink(path):
                return path
        if looked > MOST_LOOKED_AT:
            break
        folders += [
            path
            for name in names
            if name not in SKIPPED
            and "." not in name[:1]
            and os.path.isdir(path := os.path.join(place, name))
            and not os.path.islink(path)
        ]
    return ""


async def with_name(
    name: str,
    within: str,
    server: LanguageServer,
    bench: Bench,
    environ: Mapping[str, str],
    substring: bool,
) -> list[str]:
    """Files below a folder that hold a name; none where searching was not allowed."""
    workspace = bench.workspace
    literal = patterns.literal(name)
    word = name[:1].isidentifier() and name[-1:].isalnum() and not substring
    ends = [end for ends in server.languages.values() for end in ends]
    globs = tuple(f"*{end}" if end.startswith(".") else end for end in ends)
    try:
        place = SearchPlace(workspace.root, workspace.below(within), secret=workspace.secret)
    except ToolProblem:
        return []
    query = Query(rf"\b{literal}\b" if word else literal, globs=globs, most=0)
    found = await find(place, query, environ)
    return [os.path.join(place.folder, os.fsdecode(path)) for path, _ in found.counts]
