"""Which prefixes an "always" may cover."""

import pytest

from steersman.governance.guard.prefixes import runs_anything, suggested_prefix


@pytest.mark.parametrize(
    "words",
    [
        "python", "python3", "python3.12 -c", "bash", "bash -c", "sh", "env", "sudo", "git",
        "git -c", "npm run", "npm run build", "npx", "xargs", "find", "ssh", "docker run",
        "docker exec",
        "docker", "rm", "node", "perl", "ruby", "vim", "timeout", "nice", "eval", "awk",
        "sed", "curl", "make", "uv run", "uv run python", "poetry run", "bundle exec",
        "npm exec", "git config", "git bisect", "tar", "kubectl exec", "nohup bash", "",
    ],
)  # fmt: skip
def test_these_would_allow_anything(words):
    assert runs_anything(tuple(words.split()))


@pytest.mark.parametrize(
    "words",
    ["git status", "git commit", "npm test", "cargo test", "pytest", "go test",
     "docker compose up", "ruff check", "ls", "uv run pytest", "make test", "gh pr view"],
)  # fmt: skip
def test_these_are_bounded(words):
    assert not runs_anything(tuple(words.split()))


@pytest.mark.parametrize(
    ("words", "prefix"),
    [
        ("git commit -m x", "git commit"),
        ("docker compose up -d", "docker compose up"),
        ("npm test -- --watch", "npm test"),
        ("npm run build --silent", None),
        ("cargo test foo", "cargo test"),
        ("pytest -q tests", "pytest"),
        ("uv run pytest -q", "uv run pytest"),
        ("python3 x.py", None),
        ("git -c a=b log", None),
        ("sudo ls", None),
        ("git", None),
        ("rm -rf build", None),
        ("bash -c ls", None),
    ],
)
def test_suggestion(words, prefix):
    assert suggested_prefix(tuple(words.split())) == (tuple(prefix.split()) if prefix else None)
