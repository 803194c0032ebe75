"""`steer docs`: the manual in a terminal and in a pipe."""

from tests.cli.terminal import Terminal


def test_the_manual_is_drawn_in_a_terminal_and_plain_in_a_pipe(steer):
    listed = steer("docs")
    assert "undo               Undo\n" in listed.stdout

    piped = steer("docs", "undo")
    assert piped.stdout.startswith("# Undo\n")
    assert "\x1b" not in piped.stdout

    wrong = steer("docs", "terminel")
    assert wrong.returncode == 2
    assert "Did you mean `steer docs terminal`?" in wrong.stderr

    with Terminal(steer.having(PAGER="cat"), "docs", "policy") as terminal:
        assert terminal.end() == 0
        assert "See also: steer docs " in terminal.text
        assert "\x1b[1" in terminal.seen
        assert "# Policy" not in terminal.text
