"""Hooks whose scripts are long: a folder is looked at before anyone has said that they trust it."""

import resource

import pytest

from steersman.operations.running.behind import search
from steersman.records.hooks import Hook
from steersman.threads.startups import of_hooks

SECONDS = 40  # of the processor, after which the kernel ends the tests


@pytest.fixture(autouse=True, scope="module")
def limits():
    """Where reading takes hours, the tests end and not the machine."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = int(spent.ru_utime + spent.ru_stime) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
    yield
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def behind_script(root, text):
    (root / "h.sh").write_text(text)
    return search("sh ./h.sh", str(root.resolve()), ())[1]


@pytest.mark.parametrize("unit", ["$(", "$a;", ". ./$a;"])
def test_each_command_of_a_script_is_read_once(tmp_path, unit):
    assert "h.sh" in behind_script(tmp_path, unit * 40_000).files


def test_a_script_that_is_too_long_is_named_as_unread_and_all_beside_it_counts(tmp_path):
    found = behind_script(tmp_path, "".join(f". ./a{at}.sh\n" for at in range(40_000)))
    assert found.unread == {"h.sh"}
    assert {"*.sh", "*.py"} <= found.patterns.keys()
    assert "a1.sh" not in found.patterns
    (one,) = of_hooks((Hook("PreToolUse", "sh ./h.sh", "settings.json"),), str(tmp_path), "")
    assert one.what == "start h.sh; too long to be read: h.sh"


def test_a_script_of_usual_length_is_read(tmp_path):
    found = behind_script(tmp_path, "".join(f". ./a{at}.sh\n" for at in range(2_000)))
    assert found.unread == frozenset()
    assert "a1999.sh" in found.patterns
