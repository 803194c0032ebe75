"""A question finds the parts of a project that it is about."""

import os
import subprocess
import time

import pytest

from steersman.operations.code.index import recency
from steersman.operations.code.index.answering import Asked
from steersman.operations.code.index.fulltext import search, summary
from steersman.operations.code.index.ranking import aside
from steersman.operations.code.index.recency import Touch, ago, parsed
from tests.operations.code.index.kit import PROJECT, ask, plant


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    plant(folder, PROJECT)
    return folder


@pytest.fixture
def home(tmp_path):
    return tmp_path / "data"


def paths(found):
    return [excerpt.path for excerpt in found.excerpts]


def test_words_lead_to_the_file_they_are_about(project, home):
    found = ask(project, home, Asked("how is the sum of the prices made?"))
    best = found.excerpts[0]
    assert (best.path, best.line, best.end_line) == ("shop/prices.py", 1, 2)
    assert best.text == PROJECT["shop/prices.py"].rstrip("\n")
    assert best.why == "in total; full text: prices, sum"


def test_comments_count_and_what_is_leaned_on_comes_along(project, home):
    found = ask(project, home, Asked("wait twice as long before another try"))
    assert paths(found)[0] == "shop/retrying.py"
    found = ask(project, home, Asked("`Client.close`"))
    assert paths(found)[0] == "shop/client.py"
    assert "defines Client, close, mentioned" in found.excerpts[0].why
    assert "shop/retrying.py" in {*paths(found), *found.files}


def test_tests_and_changes_come_after_the_matter_unless_they_are_asked_for(project, home):
    found = ask(project, home, Asked("client send backoff delay"))
    order = paths(found)
    assert order.index("shop/client.py") < order.index("tests/test_client.py")
    assert ask(project, home, Asked("which test sends a client request")).excerpts[0].path == (
        "tests/test_client.py"
    )


def test_hints_come_first(project, home):
    found = ask(project, home, Asked("client", files=("shop/prices.py",)))
    whys = {excerpt.path: excerpt.why for excerpt in found.excerpts}
    assert "named" in whys["shop/prices.py"]
    found = ask(project, home, Asked("what", symbols=("shop.prices.total",)))
    assert paths(found)[0] == "shop/prices.py"


def test_an_answer_stays_below_a_folder_and_in_its_budget(project, home):
    found = ask(project, home, Asked("client send request", below="tests"))
    assert {*paths(found), *found.files} == {"tests/test_client.py"}
    found = ask(project, home, Asked("client send request backoff price", budget=200))
    assert found.tokens <= 200
    assert found.excerpts


def test_nothing_fits_and_nothing_is_there(project, home, tmp_path):
    assert ask(project, home, Asked("zebra")).excerpts == ()
    # A question without a word of its own gets what others lean on.
    assert ask(project, home, Asked("what is this?")).excerpts[0].why.endswith("use it")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert ask(empty, home, Asked("client")).excerpts == ()


def test_secret_files_are_never_in_an_answer(project, home):
    (project / "vault.py").write_text("def price_secret():\n    return 'price price price'\n")
    assert "vault.py" in paths(ask(project, home, Asked("price secret")))
    # Kept from an earlier time, when it was not secret, it is not shown either.
    found = ask(project, home, Asked("price secret"), secret="vault.py\n")
    assert "vault.py" not in {*paths(found), *found.files}


def test_what_changed_is_known_at_once(project, home):
    asked = Asked("zebra crossing")
    assert ask(project, home, asked).excerpts == ()
    (project / "shop/prices.py").write_text("def zebra():\n    '''Crossing.'''\n")
    assert paths(ask(project, home, asked)) == ["shop/prices.py"]
    (project / "shop/prices.py").unlink()
    assert ask(project, home, asked).excerpts == ()


def test_damaged_words_are_read_again(project, home):
    asked = Asked("sum of prices")
    before = ask(project, home, asked)
    (words,) = home.glob("index/*.words.db")
    words.write_bytes(b"no database at all" * 100)
    assert ask(project, home, asked) == before


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/client.py", ""),
        ("src/contest.py", ""),
        ("tests/kit.py", "test"),
        ("src/test_client.py", "test"),
        ("pkg/client_test.go", "test"),
        ("web/button.spec.ts", "test"),
        ("docs/conf.py", "doc"),
        ("README.md", "doc"),
        ("pip/_vendor/rich/live.py", "vendor"),
        ("x.egg-info/PKG-INFO", "vendor"),
        ("PROJECT_INDEX.json", "vendor"),
        ("CHANGES.rst", "change"),
        ("src/newsfragments/12.bugfix", "change"),
    ],
)
def test_what_a_path_says_about_a_file(path, kind):
    assert aside(path) == kind


def test_rare_words_weigh_more_and_long_files_less():
    files = [summary(b"red red"), summary(b"red blue"), summary(b"red " + b"grey " * 500)]
    hits = search(files, {"red": 1.0, "blue": 1.0, "pink": 1.0})
    assert hits.weights["blue"] > hits.weights["red"]
    assert "pink" not in hits.weights
    assert hits.scores[1] > hits.scores[0] > hits.scores[2]
    assert hits.found[1] == ("blue", "red")
    assert search([b"", summary(b"")], {"red": 1.0}).scores == {}


# --- what git remembers -------------------------------------------------------------------------


def commit(folder, message, days):
    when = f"{int(time.time() - days * 86400)} +0000"
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
    identity |= {"GIT_COMMITTER_EMAIL": "a@b", "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
    for line in (["add", "-A"], ["commit", "-q", "-m", message]):
        environ = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["git", *line], cwd=folder, env=environ, check=True)


def test_lately_and_often_changed_files_weigh_more(project):
    subprocess.run(["git", "init", "-q", project], check=True)
    assert recency.head(str(project), os.environ) == ""
    assert recency.history(str(project), os.environ) == {}
    commit(project, "all", days=2)
    (project / "shop/prices.py").write_text("changed = True\n")
    commit(project, "one", days=0)
    found = recency.history(str(project), os.environ)
    assert len(recency.head(str(project), os.environ)) == 40
    assert found.keys() == PROJECT.keys()
    assert max(found, key=lambda path: found[path].weight) == "shop/prices.py"
    below = recency.history(str(project / "shop"), os.environ)
    assert below.keys() == {"client.py", "prices.py", "retrying.py"}
    assert recency.history(str(project), {"PATH": "/nowhere"}) == {}


def test_nothing_a_repository_configures_is_run(project, tmp_path):
    subprocess.run(["git", "init", "-q", project], check=True)
    commit(project, "all", days=0)
    mark = tmp_path / "mark"
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    for name in ("core.fsmonitor", "gpg.program", "diff.external", "core.pager"):
        subprocess.run(["git", "-C", project, "config", name, str(hook)], check=True)
    subprocess.run(["git", "-C", project, "config", "log.showSignature", "true"], check=True)
    assert recency.history(str(project), os.environ)
    assert not mark.exists()


def test_odd_names_and_odd_words_of_git():
    said = b"\x01100\0\na b.py\0\x0150\0\nc\nd.py\0a b.py\0\x01junk\0e.py\0"
    found = parsed(said)
    assert found.keys() == {"a b.py", "c\nd.py"}
    assert found["a b.py"].last == 100
    assert parsed(b"") == {}
    assert isinstance(found["c\nd.py"], Touch)


@pytest.mark.parametrize(
    ("days", "words"), [(0, "today"), (1, "yesterday"), (9, "9 days ago"), (-5, "today")]
)
def test_how_long_ago(days, words):
    assert ago(1e9 - days * 86400, 1e9) == words
