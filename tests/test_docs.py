"""The documentation is true: its commands run, its data is valid, its links lead somewhere."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from steersman.identity.settings import NAMES
from steersman.records.limits import Limits
from steersman.records.settings import Budgets, Settings

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/*.md")]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    return [text for info, text in BLOCK.findall(page.read_text()) if info == language]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_on_a_page_run_in_order(page, environ, tmp_path):
    bin_folder = Path(sys.executable).parent
    environ["PATH"] = f"{bin_folder}{os.pathsep}{environ['PATH']}"
    for text in blocks(page, "sh"):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_data_on_a_page_is_valid(page):
    for text in blocks(page, "json"):
        json.loads(text)
    for text in blocks(page, "toml"):
        tomllib.loads(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_every_setting_its_variable_its_flag_and_its_values_are_told():
    page = (ROOT / "docs" / "settings.md").read_text()
    told = set(re.findall(r"`([^`\n]+)`", page))
    assert {name for name in Settings.__struct_fields__ if name != "budget"} <= told
    assert {f"[budget.{name}]" for name in Budgets.__struct_fields__} <= told
    assert {f"STEERSMAN_{name.upper()}" for name in NAMES} <= told
    assert {f"--{name}" for name in ("model", "mode", "trust", "approvals", "sandbox")} <= told
    assert {f"--max-{name}" for name in ("steps", *Limits.__struct_fields__)} <= told
    for values in (
        ["ask", "plan", "spec", "code", "debug"],
        ["restricted", "sandboxed", "untrusted"],
        ["review", "on-request", "on-failure", "never"],
    ):
        assert ", ".join(f"`{value}`" for value in values) in page
