"""The list of offers, drawn."""

from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.ports.tui.completion.popup import draw
from steersman.views.completion.sources import Offer
from steersman.views.text import safe

OFFERS = [Offer(f"src/part/module_{n}.py", "", is_path=True) for n in range(20)]


def plain(offers: list[Offer], chosen: int, width: int, rows: int) -> list[str]:
    return [line.plain.rstrip() for line in draw(offers, chosen, width, rows)]


def test_the_chosen_one_is_always_among_those_shown() -> None:
    for chosen in range(20):
        lines = plain(OFFERS, chosen, 40, 5)
        assert len(lines) == 5
        assert f"› src/part/module_{chosen}.py" in lines


def test_of_a_long_path_the_end_is_shown_of_other_words_the_beginning() -> None:
    assert plain([Offer("src/very/long/way/to/name.py", "", is_path=True)], 0, 14, 3) == [
        "› …/to/name.py"
    ]
    assert plain([Offer("make the tests pass", "")], 0, 14, 3) == ["› make the te…"]


def test_descriptions_stand_beside_names_where_there_is_room() -> None:
    offers = [Offer("/help", "", "Shows help."), Offer("/undo", "", "Takes back the last turn.")]
    assert plain(offers, 0, 60, 5) == ["› /help  Shows help.", "  /undo  Takes back the last turn."]
    assert plain(offers, 0, 20, 5) == ["› /help", "  /undo"]


@given(
    st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30), st.booleans()), max_size=9),
    st.integers(0, 8),
    st.integers(1, 50),
    st.integers(1, 8),
)
@settings(max_examples=100, deadline=None)
def test_any_words_fit_and_none_moves_the_cursor(
    words: list[tuple[str, str, bool]], chosen: int, width: int, rows: int
) -> None:
    offers = [
        Offer(label, "", about, tuple(range(len(label))), is_path=is_path)
        for label, about, is_path in words
    ]
    for line in draw(offers, min(chosen, max(0, len(offers) - 1)), width, rows):
        assert line.cell_len <= width
        assert safe(line.plain) == line.plain
        assert "\n" not in line.plain
