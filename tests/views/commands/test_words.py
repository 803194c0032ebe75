"""Arguments understood, and texts that cannot break out of their place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.ports.tui.plain.words import plain_text
from steersman.records.errors import UsageProblem
from steersman.records.message import Error
from steersman.views.commands.words import cell, fenced, number, one_of
from steersman.views.text import advised, in_chat, next_words


@pytest.mark.parametrize(("given_", "meant"), [("", None), ("7", 7), (" #12 ", 12)])
def test_numbers_of_messages(given_, meant):
    assert number("fork", given_) == meant


@pytest.mark.parametrize("given_", ["x", "0", "-1", "1.5", "1 2", "²", "9" * 13])
def test_what_is_no_number_is_refused(given_):
    with pytest.raises(UsageProblem, match="is not the number of a message"):
        number("fork", given_)


@pytest.mark.parametrize(
    ("given_", "meant"), [("", ""), ("never", "never"), ("nev", "never"), ("ON-F", "on-failure")]
)
def test_levels_by_their_beginnings(given_, meant):
    assert one_of("approvals", given_, ("on-request", "on-failure", "never")) == meant


@pytest.mark.parametrize("given_", ["on", "always"])
def test_what_is_no_level_is_refused(given_):
    with pytest.raises(UsageProblem) as raised:
        one_of("approvals", given_, ("on-request", "on-failure"))
    assert raised.value.why == "/approvals takes on-request, on-failure."


@given(st.text(alphabet="`ab \n~", max_size=40))
def test_nothing_ends_its_fence(text):
    first, *inner, last = fenced(text, "diff").split("\n")
    assert first.removesuffix("diff") == last
    assert last not in inner


@given(st.text(alphabet="ab*_`|[]<>#\\ ", max_size=40))
def test_marks_in_a_cell_mean_nothing_and_read_as_they_are(text):
    assert plain_text(cell(text)) == " ".join(text.split())


@pytest.mark.parametrize(
    ("told", "here"),
    [
        (
            "Log in with `steer login openai`, or set KEY.",
            "Log in with `/login openai`, or set KEY.",
        ),
        ("Choose another model with --model, or", "Choose another model with /model, or"),
        ("Log in, or pass --model provider:name.", "Log in, or choose one with `/model`."),
        ("- Any other: steer --model provider:name", "- Any other: /model provider:name"),
        ("`steer config list` shows where.", "`/config` shows where."),
        ("`steer policy list` shows them.", "`/permissions` shows them."),
        ("raise the trust with --trust sandboxed", "raise the trust with /trust sandboxed"),
        ("Remove it, then run `steer undo`.", "Remove it, then run `/undo`."),
        (
            "Run `steer mcp test x`, or `steer doctor`.",
            "Run `steer mcp test x`, or `steer doctor`.",
        ),
    ],
)
def test_advice_inside_the_chat_names_its_own_commands(told, here):
    assert in_chat(told) == here
    assert in_chat(here) == here


def test_only_advice_is_put_into_the_words_of_the_chat():
    """Others' words stay as they are: a commit may be about an option of theirs."""
    said = "Nothing was committed. The message was: accept --mode and --model"
    assert advised(said, "") == said
    assert advised(said, "Pass --model.") == f"{said}\nPass /model."
    assert advised("", "Run `steer undo`.") == "Run `/undo`."


def test_an_error_that_is_tried_again_says_so_in_one_sentence():
    problem = Error("It is busy.", try_this="Try again in 3 s.", retry_in=3.0)
    assert next_words(problem) == "Trying again in 3 s."
    assert next_words(Error("It is busy.", try_this="Try again later.")) == "Try again later."
