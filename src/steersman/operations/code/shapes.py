"""What of an answer is shown: only what may be seen, each thing once, in order, and not too much.

A backend may know more than the gate allowed. Nothing of a secret file, and nothing
outside the workspace, gets past this module.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import msgspec

from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.workspace import Workspace
from steersman.records import counting
from steersman.records.errors import ToolProblem
from steersman.records.secret_files import SecretFiles

LARGEST = 5_000_000  # bytes of a file that is looked into
MOST_BYTES = 32 * 1024  # of one answer
LONGEST_MESSAGE = 600


class Sight:
    """Says which paths of a workspace may be shown, and reads the lines of such files once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._veil = SecretFiles(workspace.root, workspace.secret)
        self._seen: dict[str, bool] = {}
        self._lines: dict[str, list[str]] = {}

    def shows(self, path: str) -> bool:
        """Whether a path of an answer, relative to the workspace, may be shown."""
        if path not in self._seen:
            self._seen[path] = self._decide(path)
        return self._seen[path]

    def _decide(self, path: str) -> bool:
        if not path or "\0" in path or os.path.isabs(path):
            return False
        named = os.path.normpath(os.path.join(self._workspace.root, path))
        try:
            real = os.path.realpath(named)
        except OSError:
            return False
        inside = self._workspace.contains(named) and self._workspace.contains(real)
        return inside and not self._veil.covers(named) and not self._veil.covers(real)

    def lines(self, path: str) -> list[str]:
        """The lines of a file of an answer; none where it may not be looked into."""
        if path not in self._lines:
            self._lines[path] = self._read(path) if self.shows(path) else []
        return self._lines[path]

    def _read(self, path: str) -> list[str]:
        from steersman.operations.code.lsp.positions import lines_of
        from steersman.operations.finding.scan import text_of

        real = os.path.realpath(os.path.join(self._workspace.root, path))
        try:
            self._may_look(real)
            if os.path.getsize(real) > LARGEST:
                return []
            text = text_of(os.fsencode(real))
        except (OSError, ToolProblem):
            return []
        if text is None:
            return []
        lines = lines_of(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
        return lines[:-1] if lines[-1] == "" else lines

    def _may_look(self, real: str) -> None:
        """Raise unless leave was given to read the file or to search what it is in."""
        try:
            self._workspace.below(real)
        except ToolProblem:
            self._workspace.exists(real)


def symbols(found: Iterable[Symbol], sight: Sight) -> list[Symbol]:
    """Definitions that may be shown, each once, by path and line."""
    kept = {
        (symbol.path, symbol.line, symbol.name_path): symbol
        for symbol in reversed(list(found))
        if sight.shows(symbol.path)
    }
    return sorted(kept.values(), key=lambda symbol: (symbol.path, symbol.line, symbol.column))


def references(found: Iterable[Reference], sight: Sight) -> list[Reference]:
    """Uses that may be shown, each once, by path and place."""
    kept = {
        (use.path, use.line, use.column): use
        for use in reversed(list(found))
        if sight.shows(use.path)
    }
    return [kept[place] for place in sorted(kept)]


def diagnostics(found: Iterable[Diagnostic], sight: Sight) -> list[Diagnostic]:
    """Complaints that may be shown, each once, by path and place; long ones are cut."""
    kept = {}
    for said in found:
        if sight.shows(said.path):
            key = (said.path, said.line, said.column, said.code, said.message)
            kept[key] = msgspec.structs.replace(said, message=_cut(said.message))
    return [kept[place] for place in sorted(kept)]


def fitting_symbols(found: Sequence[Symbol], most: int) -> tuple[list[Symbol], bool]:
    """The first definitions that fit in an answer; True when texts or members were left out."""
    room = MOST_BYTES
    shown: list[Symbol] = []
    cut = False
    for symbol in found[:most]:
        size = _weight(symbol)
        if size > room:
            cut = True
            symbol = msgspec.structs.replace(symbol, body=_head(symbol.body, room), children=())
            size = _weight(symbol)
            if size > room and shown:
                break
        room -= size
        shown.append(symbol)
    return shown, cut


def fitting_references(found: Sequence[Reference], most: int) -> list[Reference]:
    """The first uses that fit in an answer."""
    from steersman.operations.finding.showing import narrow

    room = MOST_BYTES
    shown: list[Reference] = []
    for use in found[:most]:
        use = msgspec.structs.replace(use, text=narrow(use.text.strip()))
        room -= 60 + len(use.path) + len(use.text.encode()) + len(use.inside)
        if room < 0:
            break
        shown.append(use)
    return shown


def fitting_diagnostics(found: Sequence[Diagnostic], most: int) -> list[Diagnostic]:
    """The first complaints that fit in an answer."""
    room = MOST_BYTES
    shown: list[Diagnostic] = []
    for said in found[:most]:
        room -= 90 + len(said.path) + len(said.message.encode())
        if room < 0:
            break
        shown.append(said)
    return shown


def counted(symbol: Symbol) -> int:
    """How many symbols there are with those inside."""
    return 1 + sum(map(counted, symbol.children))


def _weight(symbol: Symbol) -> int:
    own = 100 + len(symbol.path) + len(symbol.name_path) + len(symbol.name)
    own += len(symbol.signature.encode()) + len(symbol.body.encode())
    return own + sum(map(_weight, symbol.children))


def _head(body: str, room: int) -> str:
    """The first lines of a body that fit, with a note on the rest."""
    lines = body.splitlines()
    kept: list[str] = []
    room -= 600
    for line in lines:
        room -= len(line.encode()) + 2
        if room < 0:
            break
        kept.append(line)
    rest = len(lines) - len(kept)
    return (
        "\n".join(kept) + f"\n…[{counting.counted(rest, 'line')} left out]"
        if rest and kept
        else "\n".join(kept)
    )


def _cut(message: str) -> str:
    rest = len(message) - LONGEST_MESSAGE
    return (
        message
        if rest <= 0
        else f"{message[:LONGEST_MESSAGE]} …[{counting.counted(rest, 'character')} left out]"
    )
