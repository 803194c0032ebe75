"""What holds for any file and any edit, tried on generated ones."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.matching import (
    Applied,
    Edit,
    Refused,
    UpdateFile,
    apply_edits,
    apply_hunks,
    decode,
    encode,
    parse_patch,
    unified_diff,
)

WORDS = st.sampled_from(
    ["a", "b()", "x = 1", "“q”", '"q"', "it’s", "é", "e\u0301", "--", "@@", "{"]
)
BLANKS = st.sampled_from(["", " ", "  ", "    ", "\t", "\t\t", "\u00a0"])
ENDINGS = st.sampled_from(["\n", "\n", "\r\n"])
LINES = st.builds(lambda *parts: "".join(parts), BLANKS, WORDS, BLANKS, WORDS, BLANKS, ENDINGS)
FILES = st.builds(lambda lines, last: "".join(lines) + last, st.lists(LINES, max_size=8), WORDS)
ANYTHING = st.text(max_size=30)
UNITS = st.sampled_from(["\t", "  ", "    ", "        "])


@st.composite
def pieces(draw: st.DrawFn) -> tuple[str, str]:
    """A file and a piece of it."""
    file = draw(FILES)
    start = draw(st.integers(0, len(file) - 1))
    return file, file[start : start + draw(st.integers(1, 12))]


@given(st.binary(max_size=60), st.lists(st.builds(Edit, ANYTHING, ANYTHING, st.booleans())))
def test_nothing_raises(content: bytes, edits: list[Edit]) -> None:
    outcome = apply_edits(content, edits)
    if isinstance(outcome, Applied):
        assert len(outcome.notes) == len(edits)


@given(FILES, st.builds(Edit, FILES, FILES, st.booleans()))
def test_nothing_raises_on_likely_text(file: str, edit: Edit) -> None:
    assert isinstance(apply_edits(file.encode(), [edit]), Applied | Refused)


@given(st.text(max_size=200))
def test_no_patch_raises(text: str) -> None:
    assert isinstance(parse_patch(text), list | Refused)


@given(st.binary(max_size=60))
def test_decoding_loses_nothing(content: bytes) -> None:
    text = decode(content)
    if not isinstance(text, Refused):
        assert encode(text) == content


@given(pieces(), WORDS)
def test_a_unique_piece_is_replaced_literally_and_back(piece: tuple[str, str], new: str) -> None:
    file, search = piece
    new = f"<{new}>"
    outcome = apply_edits(file.encode(), [Edit(search, new)])
    if file.find(search) != file.rfind(search) or "\n" in search or "\r" in search:
        return
    assert isinstance(outcome, Applied)
    assert outcome.content.decode() == file.replace(search, new)
    assert apply_edits(outcome.content, [Edit(new, search)]) == Applied(
        file.encode(), outcome.notes
    )


@given(FILES, FILES, st.lists(WORDS, min_size=1, max_size=3), BLANKS, BLANKS, UNITS)
def test_bytes_outside_the_match_never_change(
    above: str, below: str, words: list[str], lead: str, trail: str, unit: str
) -> None:
    """A block that matches only once its blanks are folded, between two arbitrary texts."""
    block = "".join(f"{unit}unique-{at} {word}{trail}\n" for at, word in enumerate(words))
    search = "".join(f"{lead}unique-{at} {word}\n" for at, word in enumerate(words))
    file = f"{above}\n{block}{below}"
    outcome = apply_edits(file.encode(), [Edit(search, f"{lead}new\n{search}")])
    if isinstance(outcome, Refused):
        return
    content = outcome.content.decode()
    assert content.startswith(f"{above}\n")
    assert content.endswith(f"{block}{below}")


@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS, min_size=1, max_size=6))
def test_typography_is_kept_but_never_invented(old: list[str], new: list[str]) -> None:
    """Folded, the outcome reads as the caller wrote it; only characters of the file are added."""
    plain = str.maketrans({"“": '"', "”": '"', "’": "'"})
    search = unicodedata.normalize("NFC", " ".join(old).translate(plain))
    replace = unicodedata.normalize("NFC", " ".join(new).translate(plain))
    outcome = apply_edits(" ".join(old).encode(), [Edit(search, replace)])
    if isinstance(outcome, Applied):
        content = unicodedata.normalize("NFC", outcome.content.decode().translate(plain))
        assert content == replace


@st.composite
def nested(draw: st.DrawFn) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Lines with their depths, and the same lines with some changed, removed or added."""
    depths = [1]
    for step in draw(st.lists(st.sampled_from([-1, 0, 1]), max_size=5)):
        depths.append(max(1, min(depths[-1] + step, 4)))
    old = [(depth, f"line{at}()") for at, depth in enumerate(depths)]
    new: list[tuple[int, str]] = []
    for depth, text in old:
        fate = draw(st.sampled_from(["keep", "keep", "change", "remove", "add"]))
        if fate != "remove":
            new.append((depth, text + "!" * (fate == "change")))
        if fate == "add":
            new.append((draw(st.sampled_from([depth, depth + 1])), f"new{len(new)}()"))
    return old, new


@given(nested(), UNITS, UNITS, st.sampled_from([-1, 0, 1]))
def test_indentation_goes_by_depth(
    lines: tuple[list[tuple[int, str]], list[tuple[int, str]]], own: str, caller: str, shift: int
) -> None:
    """Whatever unit and depth a caller writes in, the outcome is in the file's."""
    old, new = lines

    def written(lines: list[tuple[int, str]], unit: str, shift: int) -> str:
        return "".join(f"{unit * (depth + shift)}{text}\n" for depth, text in lines)

    head = f"head\n{own}a\n{own * 2}b\n{own * 3}c\nbody\n"
    file = head + written(old, own, 0)
    edit = Edit(written(old, caller, shift), written(new, caller, shift))
    outcome = apply_edits(file.encode(), [edit])
    if isinstance(outcome, Applied) and outcome.notes[0].tier == "indentation":
        assert outcome.content.decode() == head + written(new, own, 0)


@given(FILES, FILES)
def test_a_diff_applied_gives_the_second_text(before: str, after: str) -> None:
    diff = unified_diff("folder/file", before.encode(), after.encode())
    if before == after:
        assert diff == ""
        return
    parsed = parse_patch(diff)
    assert isinstance(parsed, list), diff
    (update,) = parsed
    assert isinstance(update, UpdateFile)
    outcome = apply_hunks(before.encode(), update.hunks)
    assert isinstance(outcome, Applied), outcome
    assert outcome.content == after.encode()
