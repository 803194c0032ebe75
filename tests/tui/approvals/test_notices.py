"""Telling a person who looks elsewhere: what the terminal is told, when, and what never."""

import pytest

from steersman.ports.tui.notices import (
    BELL,
    Notices,
    Wanted,
    desktop_notice,
    state_title,
    title_sequence,
    words,
)
from tests.tui.approvals.kit import command_request, edit_request, network_request, question

XTERM = {"TERM": "xterm-256color"}


def told(*, environ: dict[str, str] = XTERM, **wanted: bool) -> tuple[Notices, list[str]]:
    written: list[str] = []
    return Notices(written.append, environ, Wanted(**wanted)), written


def test_a_request_is_told_once_to_a_person_who_looks_elsewhere() -> None:
    notices, written = told()
    request, _ = edit_request()
    notices.focus(False)
    notices.waiting([request])
    notices.waiting([request])
    assert written == [BELL + "\x1b]9;Steersman: The agent wants to change `calc.py`\x1b\\"]
    other = network_request(corr="ask_2", lane="steersman/reviewer")
    notices.waiting([request, other])
    assert written[1] == (
        BELL + "\x1b]9;Steersman: reviewer wants to connect to `registry.example`\x1b\\"
    )
    notices.waiting([])
    assert len(written) == 2


def test_nothing_is_told_to_a_person_who_looks() -> None:
    notices, written = told()
    notices.waiting([edit_request()[0]])
    notices.ended("done")
    assert written == []
    # They have seen it, so looking away later makes it no news.
    notices.focus(False)
    notices.waiting([edit_request()[0]])
    assert written == []


def test_several_at_once_are_one_notice() -> None:
    notices, written = told()
    notices.focus(False)
    notices.waiting([command_request()[0], question("Which?", corr="ask_2")])
    assert len(written) == 1
    assert (
        "The agent wants to run `npm install left-pad && sudo rm -rf build` (and 1 more)"
        in written[0]
    )


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (None, Wanted(True, True, True)),
        ("off", Wanted(False, False, False)),
        ("", Wanted(False, False, False)),
        ("bell", Wanted(True, False, False)),
        ("Desktop, title", Wanted(False, True, True)),
    ],
)
def test_what_is_wanted_is_a_setting(said: str | None, wanted: Wanted) -> None:
    environ = {} if said is None else {"STEERSMAN_NOTICES": said}
    assert Wanted.of(environ) == wanted


def test_what_is_off_is_not_written() -> None:
    notices, written = told(bell=False, desktop=False, title=False)
    notices.focus(False)
    notices.waiting([edit_request()[0]])
    notices.state("working", "fix it")
    notices.leave()
    assert [text for text in written if text] == []
    notices, written = told(desktop=False)
    notices.focus(False)
    notices.waiting([edit_request()[0]])
    notices.ended("done")
    assert written == [BELL, BELL]


TERMINALS = [
    ({"TERM": "xterm-256color"}, "\x1b]9;Steersman: x\x1b\\"),
    ({"TERM": "foot"}, "\x1b]777;notify;Steersman;x\x1b\\"),
    ({"TERM": "xterm", "VTE_VERSION": "7600"}, "\x1b]777;notify;Steersman;x\x1b\\"),
    ({"TERM": "xterm", "TERM_PROGRAM": "WezTerm"}, "\x1b]777;notify;Steersman;x\x1b\\"),
    (
        {"TERM": "tmux-256color", "TMUX": "/tmp/tmux-0/default,1,0"},
        "\x1bPtmux;\x1b\x1b]9;Steersman: x\x1b\x1b\\\x1b\\",
    ),
    ({"TERM": "screen"}, "\x1bP\x1b]9;Steersman: x\x07\x1b\\"),
    ({"TERM": "dumb"}, ""),
    ({"TERM": "linux"}, ""),
    ({}, ""),
]


@pytest.mark.parametrize(("environ", "sequence"), TERMINALS)
def test_each_terminal_is_told_in_its_own_way(environ: dict[str, str], sequence: str) -> None:
    assert desktop_notice("x", environ) == sequence


def test_words_of_a_model_end_no_sequence_and_begin_none() -> None:
    bad = "a\x07b\x1b]0;owned\x1b\\c\x9cd\ne;f\x1b[31m"
    block = question(bad)
    for environ in (XTERM, {"TERM": "foot"}, {"TERM": "tmux", "TMUX": "1"}):
        for sequence in (desktop_notice(words(block), environ), title_sequence(bad, environ)):
            inner = sequence.removeprefix("\x1bPtmux;").removesuffix("\x1b\\")
            body = inner.split(";", 1)[1].removesuffix("\x1b\x1b\\").removesuffix("\x1b\\")
            assert not [c for c in body if ord(c) < 32 or 127 <= ord(c) < 160], sequence
    assert "e,f" in desktop_notice(bad, {"TERM": "foot"})


def test_the_title_tells_the_state_and_is_written_when_it_changes() -> None:
    notices, written = told()
    notices.state("working", "fix the tests")
    notices.state("working", "fix the tests")
    notices.state("working", "fix the tests", waiting=2)
    notices.state("nothing", "")
    notices.leave()
    assert written == [
        "\x1b]2;● fix the tests\x1b\\",
        "\x1b]2;? (2) fix the tests\x1b\\",
        "\x1b]2;steersman\x1b\\",
        "\x1b]2;\x1b\\",
    ]
    assert len(state_title("working", "x" * 500)) <= 60
