"""The simple commands of a line, as far as they are written out."""

import pytest

from steersman.records.shell_words import leaves_behind, simple_commands, without_ampersand


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("git push", [["git", "push"]]),
        ("a b; c && d | e\nf", [["a", "b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a 'b; c' \"d && e\" f\\ g", [["a", "b; c", "d && e", "f g"]]),
        ("a 2>&1 b > out c 2>/dev/null", [["a", "b", "c"]]),
        ("a &> out b", [["a", "b"]]),
        ("a \\\n b", [["a", "b"]]),
        ("a # b; c\nd e#f", [["a"], ["d", "e#f"]]),
        ("(a b) & c", [["a", "b"], ["c"]]),
        ("a ~/x ''", [["a", "/home/me/x", ""]]),
        ('a "x\\"y" \'z\'"w"', [["a", 'x"y', "zw"]]),
        ("a HEAD@{1} @{u}", [["a", "HEAD@{1}", "@{u}"]]),
    ],
)
def test_the_words_of_a_line(line, commands):
    read = [[word.text for word in one.words] for one in simple_commands(line, "/home/me")]
    assert [words for words in read if words] == commands


@pytest.mark.parametrize(
    "word",
    ["$X", '"$X"', '"`x`"', "a*", "a?", "[a]", "{a,b}", "{1..3}", "~you/x", "'a", '"a', "$'a'"],
)
def test_a_word_that_the_shell_replaces_is_open(word):
    (command,) = simple_commands(f"x {word}")
    assert [one.open for one in command.words] == [False, True]


@pytest.mark.parametrize("word", ["'$X'", '"\\$X"', "\\$X", "'a*'", "{", "{}", '"it\'s"'])
def test_a_word_that_is_written_out_is_not(word):
    (command,) = simple_commands(f"x {word}")
    assert [one.open for one in command.words] == [False, False]


@pytest.mark.parametrize(
    ("line", "alone"),
    [
        ("npm run dev &", "npm run dev"),
        ("cd web && npm run dev > log 2>&1 & ", "cd web && npm run dev > log 2>&1"),
        ("(cd web; npm run dev) &", "(cd web; npm run dev)"),
        ("curl http://x/#a & # later", ""),
        ("a & b &", "a & b & wait"),
        ("a & b", ""),
        ("a && b", ""),
        ("a |& b", ""),
        ("a 2>&1", ""),
        ("echo 'a &'", ""),
        ("echo a \\&", ""),
        ("a # b &", ""),
        ("cat <<x\na &\nx &", ""),
        ("&", ""),
    ],
)
def test_a_line_that_is_not_waited_for_as_one_that_is(line, alone):
    assert without_ampersand(line) == alone


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("a &", True),
        ("a & sleep 1; curl localhost", True),
        ("(a &)", True),
        ("a & wait", False),
        ("a && b |& c 2>&1", False),
        ("echo 'a & b'", False),
        ("echo $((5 & 3)); [[ a & b ]]", False),
        ("echo $((5 & 3)) &", True),
    ],
)
def test_whether_a_line_starts_what_it_does_not_wait_for(line, left):
    assert leaves_behind(line) is left
