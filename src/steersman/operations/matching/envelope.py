"""The `*** Begin Patch` format, read into neutral file patches."""

from steersman.operations.matching.patches import (
    AddFile,
    DeleteFile,
    FilePatch,
    Hunk,
    UpdateFile,
    malformed,
    read_hunk_header,
    sides,
)

BEGIN, END = "*** Begin Patch", "*** End Patch"

_ADD, _DELETE, _UPDATE = "*** Add File: ", "*** Delete File: ", "*** Update File: "
_MOVE, _END_OF_FILE = "*** Move to: ", "*** End of File"


class _Reader:
    """The lines of a patch and the place reached in them."""

    def __init__(self, lines: list[str], first: int) -> None:
        self.lines = lines
        self.at = 0
        self._first = first

    @property
    def line(self) -> str | None:
        """The line at hand, or None at the end."""
        return self.lines[self.at] if self.at < len(self.lines) else None

    @property
    def number(self) -> int:
        """The number of the line at hand in the whole patch."""
        return self._first + self.at

    def take(self) -> str:
        """The line at hand, which is then behind."""
        self.at += 1
        return self.lines[self.at - 1]

    def skip_empty(self) -> None:
        """Leave empty lines behind."""
        while self.line is not None and not self.line.strip():
            self.at += 1


def read_envelope(lines: list[str], first: int) -> list[FilePatch]:
    """Read the lines between the markers; `first` is the number of the first of them."""
    reader = _Reader(lines, first)
    patches: list[FilePatch] = []
    reader.skip_empty()
    while reader.line is not None:
        patches.append(_file(reader))
        reader.skip_empty()
    if not patches:
        raise malformed(first, "the patch names no file")
    return patches


def _file(reader: _Reader) -> FilePatch:
    number = reader.number
    header = reader.take().strip()
    kind, _, path = header.partition(": ")
    path = path.strip()
    if f"{kind}: " not in (_ADD, _DELETE, _UPDATE) or not path:
        raise malformed(
            number,
            f"expected '{_ADD}', '{_DELETE}' or '{_UPDATE}' with a path, got {header[:60]!r}",
        )
    if f"{kind}: " == _ADD:
        return AddFile(path, _new_lines(reader))
    return DeleteFile(path) if f"{kind}: " == _DELETE else _updated(reader, path, number)


def _new_lines(reader: _Reader) -> str:
    lines: list[str] = []
    while reader.line is not None and not reader.line.startswith("***"):
        line = reader.take()
        if line and not line.startswith("+"):
            raise malformed(reader.number - 1, "a line of a new file must start with '+'")
        lines.append(line)
    while lines and not lines[-1]:
        lines.pop()
    return "".join(line[1:] + "\n" for line in lines)


def _updated(reader: _Reader, path: str, number: int) -> UpdateFile:
    move_to = None
    if reader.line is not None and reader.line.startswith(_MOVE):
        move_to = reader.take()[len(_MOVE) :].strip()
        if not move_to:
            raise malformed(reader.number - 1, "the path to move to is missing")
    hunks: list[Hunk] = []
    reader.skip_empty()
    while reader.line is not None and not _starts_file(reader.line):
        hunks.append(_hunk(reader))
    if not hunks and move_to is None:
        raise malformed(number, f"the update of {path} changes nothing")
    return UpdateFile(path, hunks, move_to)


def _starts_file(line: str) -> bool:
    return line.startswith("***") and line.rstrip() != _END_OF_FILE


def _hunk(reader: _Reader) -> Hunk:
    number, line, anchors = reader.number, None, []
    while reader.line is not None and reader.line.startswith("@@"):
        header = read_hunk_header(reader.take())
        line = header.line
        if header.context:
            anchors.append(header.context)
    body: list[str] = []
    while reader.line is not None and not reader.line.startswith(("@@", "***")):
        own = reader.take()
        if own and own[0] not in " +-":
            raise malformed(
                reader.number - 1, "a line of a hunk must start with ' ', '+' or '-' (or be '@@ …')"
            )
        body.append(own)
    at_end = reader.line is not None and reader.line.rstrip() == _END_OF_FILE
    if at_end:
        reader.take()
        reader.skip_empty()
    if not any(body):
        raise malformed(number, "the hunk has no lines")
    return Hunk(*sides(body), anchors, at_end, line)
