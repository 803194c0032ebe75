"""An exit code in words: a signal is named, everything else is a number."""

import pytest

from steersman.operations.admission import refused
from steersman.records.action import Verdict
from steersman.records.exits import exit_words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (None, "still running"),
        (0, "exit 0"),
        (127, "exit 127"),
        (137, "ended by SIGKILL (exit 137)"),
        (143, "ended by SIGTERM (exit 143)"),
        (255, "exit 255"),
    ],
)
def test_exit_words(code, words):
    assert exit_words(code) == words


def test_a_denial_names_the_rule_that_decided_and_never_a_person_as_one():
    assert str(refused(Verdict("deny", "person", "the user said no"))) == (
        "Denied: the user said no."
    )
    assert refused(Verdict("deny", "no-make", "use just")).why == "Rule: no-make."
