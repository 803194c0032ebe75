"""The index of a folder's code: brought up to date, asked, written down."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct

from steersman.governance.secret_finder import Finder
from steersman.identity.settings import data_folder
from steersman.operations.code.index import export
from steersman.operations.code.index.answering import Asked, answer
from steersman.operations.code.index.upkeep import Records, silent
from steersman.operations.code.index.walk import listed
from steersman.operations.tools import ranked_context
from steersman.records.code_index import IndexState, RankedContext
from steersman.records.errors import UsageProblem

LEAST, USUAL, MOST = ranked_context.LEAST, ranked_context.USUAL, ranked_context.MOST


class Update(Struct, frozen=True):
    """What bringing an index up to date did, in files."""

    read: int
    kept: int
    gone: int


class CodeIndex:
    """What is known of one folder's code, without secret files and what .gitignore names."""

    def __init__(self, records: Records, environ: Mapping[str, str]) -> None:
        self._records = records
        self._environ = environ
        self._secret = Finder(records.root).find(deep=False)[0].lines

    def state(self) -> IndexState:
        """What it holds."""
        return self._records.state()

    def update(self, progress: Callable[[int, int], None] = silent) -> Update:
        """Make it like the files are; `progress` gets how many of how many are done."""
        files = asyncio.run(listed(self._records.root, self._secret, self._environ))
        report = self._records.update(files, progress)
        return Update(report.read, report.kept, report.gone)

    def ask(
        self, question: str, budget: int, files: Sequence[str], symbols: Sequence[str]
    ) -> RankedContext:
        """The parts that matter most for a question; `files` and `symbols` matter already."""
        records, root = self._records, self._records.root
        named = tuple(os.path.relpath(os.path.realpath(file), root) for file in files)
        asked = Asked(question, budget, named, tuple(symbols))
        picture = records.picture(records.touches(self._environ))
        reader = ranked_context.reader(root, self._secret)
        return answer(picture, asked, records.spans, reader, time.time())

    def names(self) -> list[tuple[str, str]]:
        """Every name that is defined, with its file."""
        found = self._records.index.definitions()
        return [(path, name) for name, paths in found.items() for path in paths]

    def write(self) -> list[str]:
        """Write it down in the folder, for people and for programs; the names of the files."""
        records = self._records
        picture = records.picture()
        languages = {path: entry.language for path, entry in records.index.files().items()}
        index = export.project(picture, languages, records.index.outlines())
        return [
            export.write(records.root, export.JSON_NAME, export.as_json(index)),
            export.write(records.root, export.MARKDOWN_NAME, export.as_markdown(index, picture)),
        ]


@contextmanager
def open_index(folder: str, environ: Mapping[str, str]) -> Iterator[CodeIndex]:
    """The index of a folder, kept in the data folder."""
    if not os.path.isdir(folder):
        raise UsageProblem(
            f"{folder} is not a folder.", try_this="Pass an existing folder with --workspace."
        )
    records = Records(folder, data_folder(environ))
    try:
        yield CodeIndex(records, environ)
    finally:
        records.close()
