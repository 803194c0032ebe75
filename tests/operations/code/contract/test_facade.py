"""The facade: who is asked, who next, what is shown, and how uses are compared with the text."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from steersman.operations.code.backend import Spot, Unable, Wanted
from steersman.operations.code.facade import Facade
from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.code.shapes import Sight
from steersman.operations.code.spots import columns, spot_of, word_at
from steersman.records.errors import ToolProblem
from steersman.records.mcp_tools import ServerProblem
from tests.operations.code.contract.made_up import MadeUp, symbol
from tests.operations.code.contract.station import Station, a_station

FILES = {
    "a.py": "def send():\n    return 1\n\n\ndef other():\n    return send()\n",
    "b.py": "from a import send\n\nsend()\nsend(), send()\n",
    "c.py": "# send is only spoken of\nx = 'send'\n",
    "secret/keys.py": "send = 1\n",
    "notes.md": "send\n",
}
SEND = symbol("send", "a.py", 1, column=5)
USES = (
    Reference("b.py", 3, 1, "send()"),
    Reference("a.py", 6, 12, "return send()", "other"),
    Reference("b.py", 1, 15, "from a import send"),
    Reference("b.py", 3, 1, "send()"),
)


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Station]:
    with a_station(tmp_path) as station:
        for name, text in FILES.items():
            Path(station.path(name)).parent.mkdir(exist_ok=True)
            Path(station.path(name)).write_text(text)
        yield station


class Clock:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


# ------------------------------------------------------------------------------- who is asked


def test_the_first_that_serves_answers_and_is_named(station: Station) -> None:
    first = MadeUp("first", symbols=(SEND,), endings=(".ts",))
    second = MadeUp("second", symbols=(SEND,))
    facade = Facade([first, second, MadeUp("third")], station.environ)
    answer = station.run(facade.overview(station.path("a.py"), 1, station.bench()))
    assert (answer.backend, answer.symbols, answer.total) == ("second", (SEND,), 1)
    assert (answer.path, answer.note) == ("a.py", "")
    assert first.asked == 0


def test_who_cannot_answer_is_passed_over_and_the_answer_says_so(station: Station) -> None:
    unable = MadeUp("serena", problem=Unable("it does not read the file."))
    facade = Facade([unable, MadeUp("tree-sitter", symbols=(SEND,))], station.environ)
    answer = station.run(facade.overview(station.path("a.py"), 1, station.bench()))
    assert answer.backend == "tree-sitter"
    assert answer.note == "serena: it does not read the file"


def test_one_that_fails_has_a_rest_and_then_comes_back(station: Station) -> None:
    clock = Clock()
    server = MadeUp("serena", symbols=(SEND,), problem=ServerProblem("serena has ended"))
    facade = Facade(
        [server, MadeUp("tree-sitter", symbols=(SEND,))], station.environ, rest=30.0, clock=clock
    )

    def backend() -> tuple[str, int]:
        answer = station.run(facade.overview(station.path("a.py"), 1, station.bench()))
        return answer.backend, server.asked

    assert backend() == ("tree-sitter", 1)
    assert backend() == ("tree-sitter", 1)  # not asked again so soon
    server.problem = None
    assert backend() == ("tree-sitter", 1)
    clock.now = 31.0
    assert backend() == ("serena", 2)
    assert backend() == ("serena", 3)


def test_backends_come_and_go_between_questions(station: Station) -> None:
    there = [MadeUp("tree-sitter", symbols=(SEND,))]
    facade = Facade(lambda: there, station.environ)

    def backend() -> str:
        return station.run(facade.overview(station.path("a.py"), 1, station.bench())).backend

    assert backend() == "tree-sitter"
    there.insert(0, MadeUp("serena", symbols=(SEND,)))
    assert backend() == "serena"
    there.pop(0)
    assert backend() == "tree-sitter"


def test_one_that_never_answers_is_not_waited_for(station: Station) -> None:
    class Silent(MadeUp):
        async def overview(self, path, depth, bench):
            await asyncio.Event().wait()

    facade = Facade(
        [Silent("silent"), MadeUp("tree-sitter", symbols=(SEND,))], station.environ, patience=0.05
    )
    answer = station.run(facade.overview(station.path("a.py"), 1, station.bench()))
    assert (answer.backend, answer.note) == ("tree-sitter", "silent: no answer within 0.05 seconds")


def test_when_nobody_can_the_reasons_are_told(station: Station) -> None:
    facade = Facade([MadeUp("one", problem=Unable("no grammar"))], station.environ)
    with pytest.raises(Unable) as problem:
        station.run(facade.overview(station.path("a.py"), 1, station.bench()))
    assert str(problem.value) == (
        "Nothing here can list the symbols of a.py.\n"
        "one: no grammar\n"
        "Use workspace_search_files and workspace_read_file instead."
    )


def test_a_defect_is_not_hidden(station: Station) -> None:
    facade = Facade([MadeUp("one", problem=KeyError("defect"))], station.environ)
    with pytest.raises(KeyError):
        station.run(facade.overview(station.path("a.py"), 1, station.bench()))


def test_where_one_knows_nothing_the_next_is_asked(station: Station) -> None:
    facade = Facade([MadeUp("serena"), MadeUp("trees", symbols=(SEND,))], station.environ)
    answer = station.run(facade.find(Wanted("send", station.root), station.bench()))
    assert (answer.backend, answer.note) == ("trees", "serena found nothing")
    answer = station.run(facade.find(Wanted("nothing", station.root), station.bench()))
    assert (answer.backend, answer.symbols, answer.note) == ("serena", (), "")


def test_only_those_that_were_asked_are_closed(station: Station) -> None:
    asked, spared = MadeUp("a", symbols=(SEND,)), MadeUp("b")
    facade = Facade([asked, spared], station.environ)
    station.run(facade.find(Wanted("send", station.root), station.bench()))
    station.run(facade.close())
    assert (asked.closed, spared.closed) == (1, 0)


# --------------------------------------------------------------------------------- what is shown


def test_answers_are_sorted_without_doubles_and_without_what_is_secret_or_outside(
    station: Station,
) -> None:
    os.symlink("/etc", station.path("link"))
    found = (
        symbol("send", "b.py", 3), symbol("send", "a.py", 9), symbol("send", "a.py", 2),
        symbol("send", "a.py", 9), symbol("send", "secret/keys.py", 1),
        symbol("send", "/usr/lib/x.py", 1), symbol("send", "../x.py", 1),
        symbol("send", "link/passwd", 1),
    )  # fmt: skip
    facade = Facade([MadeUp("m", symbols=found)], station.environ)
    bench = station.bench(secret="secret/")
    answer = station.run(facade.find(Wanted("send", station.root), bench))
    assert [(s.path, s.line) for s in answer.symbols] == [("a.py", 2), ("a.py", 9), ("b.py", 3)]
    assert answer.total == 3


def test_what_is_defined_elsewhere_is_said_to_be(station: Station) -> None:
    facade = Facade(
        [MadeUp("ty", symbols=(symbol("print", "/usr/lib/builtins.pyi", 1),))], station.environ
    )
    spot = Spot(station.path("a.py"), 1, 1, "print")
    answer = station.run(facade.declaration(spot, station.bench()))
    assert (answer.symbols, answer.note) == ((), "print is defined outside the workspace")


def test_long_answers_are_cut_and_say_so(station: Station) -> None:
    many = tuple(symbol(f"send{n}/send", "a.py", n + 1) for n in range(50))
    facade = Facade([MadeUp("m", symbols=many)], station.environ)
    answer = station.run(facade.find(Wanted("send", station.root, most=30), station.bench()))
    assert (len(answer.symbols), answer.total) == (30, 50)
    assert answer.more == "at least 20 more; pass a path, kinds, or a longer name"
    large = symbol("send", "a.py", 1, body="x = 1\n" * 20_000)
    facade = Facade([MadeUp("m", symbols=(large,))], station.environ)
    answer = station.run(facade.find(Wanted("send", station.root), station.bench()))
    assert len(answer.symbols[0].body) < 33_000
    assert answer.symbols[0].body.endswith("lines left out]")
    assert answer.note == "texts were cut to fit in one answer"


def test_complaints_are_asked_of_whoever_knows_the_file(station: Station) -> None:
    python = Diagnostic("a.py", 2, 1, "error", "wrong", source="ty")
    hint = Diagnostic("a.py", 1, 1, "hint", "could be better")
    script = Diagnostic("s.ts", 1, 1, "warning", "odd")
    Path(station.path("s.ts")).write_text("let x\n")
    facade = Facade(
        [
            MadeUp("ty", complaints=(python, hint), endings=(".py",)),
            MadeUp("tsc", complaints=(script,), endings=(".ts",)),
        ],
        station.environ,
    )
    paths = [station.path("s.ts"), station.path("a.py")]
    answer = station.run(facade.diagnostics(paths, "warning", station.bench()))
    assert (answer.backend, answer.diagnostics) == ("tsc, ty", (python, script))
    answer = station.run(facade.diagnostics(paths, "hint", station.bench()))
    assert answer.total == 3


def test_of_very_many_complaints_the_worst_are_shown(station: Station) -> None:
    many = tuple(
        Diagnostic("a.py", n, 1, "error" if n == 900 else "warning", f"m{n}" * 50)
        for n in range(1, 1000)
    )
    facade = Facade([MadeUp("ty", complaints=many)], station.environ)
    answer = station.run(facade.diagnostics([station.path("a.py")], "warning", station.bench()))
    assert 900 in [said.line for said in answer.diagnostics]
    assert answer.total == 999
    assert "more, none of them worse" in answer.more


# ---------------------------------------------------------------------- which symbol, and its uses


def test_uses_are_compared_with_the_text(station: Station) -> None:
    facade = Facade([MadeUp("ty", symbols=(SEND,), uses=USES)], station.environ)
    answer = station.run(
        facade.references("send", station.root, 0, station.bench(secret="secret/"))
    )
    assert [(use.path, use.line, use.column) for use in answer.references] == [
        ("a.py", 6, 12), ("b.py", 1, 15), ("b.py", 3, 1),
    ]  # fmt: skip
    assert (answer.symbol, answer.total, answer.files) == ("send (a.py:1)", 3, 2)
    # c.py has it in a comment and a string, notes.md is no code, the secret file is not looked at.
    assert (answer.agreement, answer.text_only, answer.note) == ("same", (), "")


def test_files_that_a_backend_left_out_are_told(station: Station) -> None:
    facade = Facade([MadeUp("pyright", symbols=(SEND,), uses=USES[1:2])], station.environ)
    answer = station.run(
        facade.references("send", station.root, 0, station.bench(secret="secret/"))
    )
    assert answer.agreement == "differs"
    assert [(use.path, use.line) for use in answer.text_only] == [
        ("b.py", 1), ("b.py", 3), ("b.py", 4),
    ]  # fmt: skip
    assert answer.note == "the text has send in 1 more file: they may be imports or other symbols"


def test_a_use_under_another_name_is_told(station: Station) -> None:
    uses = (*USES, Reference("c.py", 2, 1, "x = 'send'"))
    facade = Facade([MadeUp("ty", symbols=(SEND,), uses=uses)], station.environ)
    Path(station.path("c.py")).write_text("y = 1\nx()\n")
    answer = station.run(
        facade.references("send", station.root, 0, station.bench(secret="secret/"))
    )
    assert answer.agreement == "differs"
    assert "used under another name" in answer.note


def test_names_that_everything_has_are_not_compared(station: Station) -> None:
    init = symbol("A/__init__", "a.py", 1)
    facade = Facade([MadeUp("ty", symbols=(init,), uses=USES)], station.environ)
    answer = station.run(facade.references("__init__", station.root, 0, station.bench()))
    assert answer.agreement == "unchecked"


def test_of_several_the_one_that_is_meant_must_be_named(station: Station) -> None:
    several = (symbol("A/send", "a.py", 3), symbol("B/send", "b.py", 7))
    facade = Facade([MadeUp("ty", symbols=several, uses=USES)], station.environ)
    with pytest.raises(ToolProblem) as problem:
        station.run(facade.references("send", station.root, 0, station.bench()))
    assert str(problem.value) == (
        "send is defined 2 times.\n"
        "A/send (function) a.py:3\n"
        "B/send (function) b.py:7\n"
        "Pass the name path, or the path and line of the one you mean."
    )
    answer = station.run(facade.references("B/send", station.root, 0, station.bench()))
    assert answer.symbol == "B/send (b.py:7)"


def test_overloads_are_one_symbol(station: Station) -> None:
    overloads = (symbol("send", "a.py", 1), symbol("send", "a.py", 3))
    facade = Facade([MadeUp("ty", symbols=overloads, uses=USES)], station.environ)
    answer = station.run(facade.references("send", station.root, 0, station.bench()))
    assert answer.symbol == "send (a.py:1)"


@pytest.mark.parametrize(("path", "line"), [("a.py", 1), ("a.py", 6), ("b.py", 4)])
def test_a_line_tells_which_symbol_is_meant(station: Station, path: str, line: int) -> None:
    several = (SEND, symbol("Other/send", "c.py", 9))
    by_place = MadeUp("ty", symbols=several, uses=USES)

    async def declared(spot: Spot, bench: object) -> list[Symbol]:
        return [SEND]

    by_place.declaration = declared
    facade = Facade([by_place], station.environ)
    answer = station.run(facade.references("send", station.path(path), line, station.bench()))
    assert answer.symbol == "send (a.py:1)"


def test_a_symbol_nobody_knows_is_told_with_who_was_asked(station: Station) -> None:
    facade = Facade([MadeUp("ty")], station.environ)
    with pytest.raises(ToolProblem, match="No definition of nothing was found in the workspace"):
        station.run(facade.references("nothing", station.root, 0, station.bench()))


# ------------------------------------------------------------------------------------ places


@pytest.mark.parametrize(
    ("line", "column", "name", "words"),
    [
        (99, 0, "send", "a.py has no line 99.\nIt has 6 lines."),
        (1, 0, "other", "other is not in line 1 of a.py."),
        (1, 0, "", "Which name in line 1 of a.py do you mean?"),
        (1, 99, "", "Line 1 of a.py has no column 99."),
    ],
)
def test_a_place_that_is_none_is_told(
    station: Station, line: int, column: int, name: str, words: str
) -> None:
    with pytest.raises(ToolProblem) as problem:
        spot_of(station.path("a.py"), line, column, name, station.bench())
    assert str(problem.value).startswith(words)


def test_lines_are_counted_as_servers_count_them(station: Station) -> None:
    Path(station.path("odd.py")).write_bytes(b"a\x0cb\r\nc\xe2\x80\xa8d\n\xff\n\nlast")
    assert Sight(station.bench().workspace).lines("odd.py") == [
        "a\x0cb", "c\u2028d", "\ufffd", "", "last",
    ]  # fmt: skip
    Path(station.path("empty.py")).write_bytes(b"")
    assert Sight(station.bench().workspace).lines("empty.py") == []


def test_words_in_lines() -> None:
    assert columns("send", "send, resend, send()") == [1, 15]
    assert columns("größe", "größer + größe") == [10]
    assert columns("$x", "$x + a$x") == [1, 7]
    assert word_at("x = send(1)", 5) == "send"
    assert word_at("x = send(1)", 9) == "send"
    assert word_at("x = (1)", 3) == ""
