"""Which deletion and which creation are one file that was moved."""

from hashlib import sha256

import pytest

from steersman.operations.journal.moves import COMPARED, moves, seen
from steersman.records.change import ABSENT, Change, FileState, Seen

TEXT = "".join(f"line {number}\n" for number in range(20))
HALF = TEXT[: len(TEXT) // 2]
BINARY = "\0" + TEXT


def state(text: str) -> FileState:
    """A file with a text; its digest gives it back."""
    return FileState("file", 0o644, sha256(text.encode()).hexdigest(), len(text))


def change(told: str, *texts: str) -> tuple[Change, dict[str, bytes]]:
    """`-name` goes with a text, `+name` comes with one, `*name` changes from one to another."""
    made = [state(text) for text in texts]
    known = {one.digest: text.encode() for one, text in zip(made, texts, strict=True)}
    both = {"-": (made[0], ABSENT), "+": (ABSENT, made[0]), "*": (made[0], made[-1])}
    return Change(told[1:], *both[told[0]]), known


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        ([("-a", TEXT), ("+b", TEXT)], {"b": "a"}),
        ([("-a", TEXT), ("+b", TEXT + "more\n")], {"b": "a"}),
        ([("-a", TEXT), ("+b", TEXT.replace("line", "row"))], {}),
        ([("-a", TEXT), ("+b", HALF[:-30])], {}),
        ([("-a", TEXT), ("+b", TEXT), ("+c", TEXT)], {"b": "a"}),
        ([("-a", TEXT), ("+b", TEXT), ("+d/a", TEXT)], {"d/a": "a"}),  # its name says which
        ([("-a", TEXT), ("+b", TEXT + "x\n"), ("+c", TEXT + "x\ny\n")], {"b": "a"}),
        ([("-a", TEXT), ("-d", TEXT + "x\n"), ("+b", TEXT)], {"b": "a"}),
        ([("-a", ""), ("+b", "")], {"b": "a"}),  # as git has it: the same content, however small
        ([("-a", "x"), ("+b", "x")], {"b": "a"}),
        ([("-a", "x\ny\n"), ("+b", "x\nz\n")], {"b": "a"}),
        ([("-a", "x\ny\n"), ("+b", "x\r\nz\r\n")], {"b": "a"}),
        ([("-a", "x" * 300), ("+b", "x" * 300 + "y")], {"b": "a"}),  # one line, nearly the same
        ([("-a/__init__.py", ""), ("+b/__init__.py", "")], {"b/__init__.py": "a/__init__.py"}),
        ([("-a", BINARY), ("+b", BINARY)], {"b": "a"}),
        ([("-a", BINARY), ("+b", BINARY + "more\n")], {}),
        ([("-a", TEXT), ("*b", "old\n", TEXT)], {}),  # what was there is gone, which is no move
        ([("-.git/refs/a", TEXT), ("+.git/refs/b", TEXT)], {}),
        ([("-a", TEXT)], {}),
    ],
)
def test_what_was_moved(done: list[tuple[str, ...]], expected: dict[str, str]) -> None:
    made = [change(*one) for one in done]
    known = {digest: text for _, texts in made for digest, text in texts.items()}
    assert moves([one for one, _ in made], lambda one: known.get(one.digest)) == expected


def test_a_move_is_looked_at_as_one_change() -> None:
    (gone, old), (come, new), (other, _) = (
        change("-a", TEXT), change("+b", TEXT + "more\n"), change("+c", "c\n")
    )  # fmt: skip
    found = seen([gone, come, other], lambda one: (old | new).get(one.digest))
    assert found == [Seen(Change("b", gone.before, come.after), "a"), Seen(other)]
    assert [one.title() for one in found] == ["a → b", "c"]
    assert found[0].title({"a": "***"}) == "*** → b"


def test_of_very_many_files_only_the_same_content_is_compared() -> None:
    asked = []
    texts = [f"{number}\n" * 10 for number in range(COMPARED + 1)]
    gone = [change(f"-old{number}", text)[0] for number, text in enumerate(texts)]
    come = [change(f"+new{number}", text + "more\n")[0] for number, text in enumerate(texts)]
    same = change("-a", TEXT)[0], change("+b", TEXT)[0]
    assert moves([*gone, *come, *same], asked.append) == {"b": "a"}
    assert asked == []
