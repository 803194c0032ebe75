"""A command that failed: what is said of it, and what a person on `on-failure` can do about it."""

import pytest

from steersman.operations.running.failing import fails_by_assertion, failure
from steersman.records.message import ConfirmResponse
from tests.operations.workshop import Workshop

FAILURES = [
    ("make", 0, "", ""),
    ("make", None, "", ""),
    ("make", 2, "", "`make` failed with exit code 2"),
    ("make  -j2", 2, "a\n\nb\nc\nd\n", "`make -j2` failed with exit code 2: b / c / d"),
    ("grep x *", 1, "", ""),
    ("grep x *", 2, "", "`grep x *` failed with exit code 2"),
    ("cat a | /usr/bin/grep x", 1, "", ""),
    ("test -f x", 1, "", ""),
    ("grep x a && make", 1, "", "`grep x a && make` failed with exit code 1"),
    ("echo 'open", 1, "", "`echo 'open` failed with exit code 1"),
]


@pytest.mark.parametrize(("command", "code", "output", "expected"), FAILURES)
def test_how_a_command_failed_is_said_in_a_line(command, code, output, expected):
    assert failure(command, code, output) == expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("E       assert 1 == 2\n", True),
        ("thread 'main' panicked: assertion `left == right` failed\n", True),
        ("expect(received).toBe(expected)", True),
        ("curl: (6) Could not resolve host: example.org", False),
        ("touch: cannot touch '/etc/x': Read-only file system", False),
    ],
)
def test_a_test_that_fails_by_its_own_assertion_is_known(output, expected):
    assert fails_by_assertion(output) == expected


FLAKY = "echo x >> tries; [ $(wc -l < tries) -gt 1 ] || { echo 'E   assert EROFS'; exit 3; }"


def test_on_failure_it_is_tried_again_in_the_sandbox_if_the_person_wants_that(tmp_path):
    requests = []

    def answer(message):
        requests.append(message.body)
        return ConfirmResponse("deny", "look at x first") if len(requests) > 1 else "allow"

    shop = Workshop(tmp_path, answer=answer, approvals="on-failure")
    flaky, broken = shop.do(
        ("workspace_run_command", {"command": FLAKY}),
        ("workspace_run_command", {"command": "echo no; exit 7"}),
    )
    assert flaky.output["exit_code"] == 0
    assert (tmp_path / "tries").read_text() == "x\nx\n"
    first, second = requests
    assert not first.actions[0].outside
    assert first.reason.endswith("failed with exit code 3: E   assert EROFS; run it again?")
    assert second.reason == "`echo no; exit 7` failed with exit code 7: no; run it again?"
    assert (second.lasting, second.only_once) == ((), "you are asked after each failure")
    assert broken.output["exit_code"] == 7
    assert broken.output["note"] == "The user chose not to run it again. look at x first"


@pytest.mark.parametrize("approvals", ["review", "never"])
def test_otherwise_a_failure_is_the_models_business(tmp_path, approvals):
    shop = Workshop(tmp_path, answer=lambda _: "deny", approvals=approvals)
    assert shop.one("workspace_run_command", command="exit 7").output["exit_code"] == 7
    assert "confirm_request" not in shop.kinds()
