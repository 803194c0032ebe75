"""Searching and listing by ripgrep: its options, and its answers read.

A search takes two runs: the first counts per file, so the totals are exact and its output is
small however much there is; the second shows the places in the first files in order.
"""

import asyncio
import re
from base64 import b64decode
from collections.abc import Mapping

import msgspec
from msgspec import Struct, field

from steersman.operations.finding import patterns, showing
from steersman.operations.finding.ignoring import Judge
from steersman.operations.finding.program import Died, Ran, run
from steersman.operations.finding.records import Found, Hit, Names, Query, SearchPlace, in_order
from steersman.operations.finding.showing import Spot
from steersman.records.errors import ToolProblem

MOST_ARGUMENTS = 256 * 1024
_COUNTED = re.compile(rb"\./([^\0]*)\0(\d+)\r?\n")
_BINARY = re.compile(
    rb"DEBUG\|grep_printer::[^\n]*?: ignoring \./(.*?): found binary data at offset \d+\n",
    re.DOTALL,
)
_UNREADABLE = re.compile(rb"^rg: (?!DEBUG).*\(os error \d+\)$", re.MULTILINE)
_EVERYTHING = frozenset({"*", "**", "**/*", "/**", "./**", "./**/*"})


class _Text(Struct):
    text: str | None = None
    coded: str | None = field(default=None, name="bytes")

    def raw(self) -> bytes:
        return b64decode(self.coded or "") if self.text is None else self.text.encode()


class _Span(Struct):
    start: int
    end: int


class _Line(Struct):
    path: _Text
    lines: _Text
    line_number: int
    submatches: list[_Span]


class _Match(Struct, tag_field="type", tag="match"):
    data: _Line


class _Context(Struct, tag_field="type", tag="context"):
    data: _Line


class _Begin(Struct, tag_field="type", tag="begin"):
    pass


class _End(Struct, tag_field="type", tag="end"):
    pass


class _Summary(Struct, tag_field="type", tag="summary"):
    pass


_DECODER = msgspec.json.Decoder(_Begin | _Match | _Context | _End | _Summary)


class _InFile:
    """What ripgrep says about one file."""

    def __init__(self) -> None:
        self.spots: list[Spot] = []
        self.lines: dict[int, str] = {}

    def add(self, message: _Match | _Context, multiline: bool) -> None:
        """Take a line, or the lines of a match over several."""
        block, first = message.data.lines.raw(), message.data.line_number
        rows = block.removesuffix(b"\n").split(b"\n")
        self.lines |= {first + place: showing.clean(row) for place, row in enumerate(rows)}
        if isinstance(message, _Context):
            return
        spans = message.data.submatches or [_Span(0, 0)]
        for span in spans if multiline else spans[:1]:
            line = first + block.count(b"\n", 0, span.start)
            end = first + block.count(b"\n", 0, max(span.end - 1, span.start))
            lead = block[block.rfind(b"\n", 0, span.start) + 1 : span.start]
            # Of nothing at the end of a line, ripgrep does not tell the place.
            nothing = span.start == span.end
            column = 1 if nothing else len(lead.decode("utf-8", "surrogateescape")) + 1
            self.spots.append(Spot(line, column, end))


async def list_names(
    rg: str, place: SearchPlace, ignored: bool, environ: Mapping[str, str]
) -> Names:
    """Every file below a folder."""
    judge = Judge(place.root, place.top)
    command = [rg, "--files", "--null", *_choosing(place, judge, ignored), "--", "./"]
    ran = await run(command, place.folder, environ)
    _check(ran, "")
    names = await asyncio.to_thread(_sorted, ran.out)
    if not ignored and _needs_judge(judge, place, ()):
        names = [name for name in names if not judge.leaves_out(name)]
    return Names(names, _unreadable(ran), ran.complete)


def _sorted(listed: bytes) -> list[bytes]:
    """The names of a listing in order; whole listings are worked on, as there may be many names."""
    if not listed:
        return []
    if b"\1" in listed:
        return sorted(listed[2:-1].split(b"\0./"), key=in_order)
    names = sorted(listed[2:-1].replace(b"/", b"\1").split(b"\0.\1"))
    return b"\0".join(names).replace(b"\1", b"/").split(b"\0")


async def search(rg: str, place: SearchPlace, query: Query, environ: Mapping[str, str]) -> Found:
    """Count in every file, then show the first places."""
    judge = Judge(place.root, place.folder)
    globs = () if _EVERYTHING.issuperset(query.globs) else query.globs
    choosing = _choosing(place, judge, query.ignored, globs)
    how = "--count-matches" if query.multiline else "--count"
    asking = _asking(query)
    # --debug names the binary files that are passed over, so that they can be counted.
    count = [rg, how, "--null", "--with-filename", "--debug", *choosing, *asking, "./"]
    ran = await run(count, place.folder, environ)
    _check(ran, query.pattern)
    wide = not query.ignored and not place.is_file and _needs_judge(judge, place, globs)
    counts, binary = await asyncio.to_thread(_counted, ran, judge if wide else None)
    secret = place.secret_rules()
    counts = [counted for counted in counts if not secret(counted[0])]
    shown = await _show(rg, place, query, counts, environ)
    return Found(shown, counts, binary, _unreadable(ran), ran.complete)


def _counted(ran: Ran, judge: Judge | None) -> tuple[list[tuple[bytes, int]], int]:
    """How often in which files, in order; and how many binary files were passed over."""
    counts = [(path, int(number)) for path, number in _COUNTED.findall(ran.out)]
    binary = _BINARY.findall(ran.err)
    if judge is not None:
        counts = [(path, number) for path, number in counts if not judge.leaves_out(path)]
        binary = [path for path in binary if not judge.leaves_out(path)]
    counts.sort(key=lambda counted: in_order(counted[0]))
    return counts, len(binary)


async def _show(
    rg: str,
    place: SearchPlace,
    query: Query,
    counts: list[tuple[bytes, int]],
    environ: Mapping[str, str],
) -> list[Hit]:
    """The places in the first files."""
    wanted = _first_files(counts, query.most)
    if not wanted:
        return []
    limits = ["--context", str(query.context)]
    if not query.multiline:  # over lines, ripgrep's limit may leave out the first match, too
        limits += ["--max-count", str(query.most + query.context)]
    paths = [b"./" + path for path in wanted]
    # The files are chosen, so no rules are read for them.
    asking = ["--json", "--no-ignore", *limits, *_asking(query)]
    ran = await run([rg, *asking, *paths], place.folder, environ)
    files = {path: _InFile() for path in wanted}
    for line in ran.out.split(b"\n")[:-1]:
        message = _DECODER.decode(line)
        if isinstance(message, _Match | _Context):
            files[message.data.path.raw()[2:]].add(message, query.multiline)
    found = (
        hit
        for path, told in files.items()
        for hit in showing.hits(place.shown(path), told.spots, told.lines, query.context)
    )
    return showing.fitting(found, query.most)


def _first_files(counts: list[tuple[bytes, int]], most: int) -> list[bytes]:
    wanted: list[bytes] = []
    room, length = most, MOST_ARGUMENTS
    for path, count in counts:
        length -= len(path) + 16
        if room <= 0 or length <= 0:
            break
        wanted.append(path)
        room -= count
    return wanted


def _choosing(
    place: SearchPlace, judge: Judge, ignored: bool, globs: tuple[str, ...] = ()
) -> list[str | bytes]:
    """Options that choose the files: what git would see, hidden or not, and never git's own."""
    chosen: list[str | bytes] = ["--no-config", "--hidden"]
    if place.is_file:
        # Named itself, a file would be searched although it is binary.
        name = re.sub(rb"[\\*?\[\]{}!]", rb"\\\g<0>", place.name)
        return [*chosen, "--no-ignore", "--max-depth", "1", "--glob", b"/" + name]
    if ignored:
        chosen.append("--no-ignore")
    elif not judge.repository:
        chosen += ["--no-require-git", "--no-ignore-parent"]
    chosen += ["--no-ignore-dot", "--no-ignore-global"]
    for glob in (*globs, "!.git"):
        chosen += ["--glob", glob]
    return chosen


def _asking(query: Query) -> list[str | bytes]:
    case = "--case-sensitive" if query.case_sensitive else "--ignore-case"
    multiline = ["--multiline"] if query.multiline else []
    plain = ["--no-config", "--no-mmap", "--crlf", "--color", "never"]
    return [*plain, case, *multiline, "--regexp", query.pattern, "--"]


def _needs_judge(judge: Judge, place: SearchPlace, globs: tuple[str, ...]) -> bool:
    """Whether ripgrep's choice is too wide: its globs beat .gitignore, and without a repository
    it cannot be known where the folders above end."""
    return bool(globs) or (not judge.repository and place.folder != place.root)


def _unreadable(ran: Ran) -> int:
    return len(_UNREADABLE.findall(ran.err))


def _check(ran: Ran, pattern: str) -> None:
    if ran.code in (0, 1) or not ran.complete or _UNREADABLE.search(ran.err):
        return
    lines = ran.err.decode("utf-8", "replace").splitlines()
    complaint = "\n".join(line for line in lines if not line.startswith("rg: DEBUG"))
    if "regex" in complaint or "error:" in complaint:
        raise patterns.from_ripgrep(pattern, complaint)
    kind = Died if ran.code < 0 else ToolProblem
    raise kind("The search failed.", complaint[:500])
