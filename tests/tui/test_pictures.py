"""The pictures of the README can be made again, fetch nothing, and show no one's machine."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

PICTURES = Path(__file__).parent.parent.parent / "docs" / "pictures"
SHOWN = {
    "conversation": ["wants to change", "nights"],
    "panes": ["approvals", "turn 2", "queued for the next turn"],
    "palette": ["Do anything", "/compact"],
    "picker": ["Resume a thread", "Why is the fee rounded twice?"],
    "light": ["All five tests pass."],
}


def words(picture: Path) -> str:
    """The text of a picture."""
    return " ".join(ElementTree.parse(picture).getroot().itertext()).replace("\xa0", " ")


def check(picture: Path) -> None:
    """It says what it is there for, and leads nowhere."""
    svg = picture.read_text()
    addresses = set(re.findall(r"[a-z]+://[^\"'\s)<]+", svg))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "@font-face" not in svg
    told = words(picture)
    for text in SHOWN[picture.stem]:
        assert text in told
    assert not re.search(r"/(tmp|home|root|Users|var)/", told)


@pytest.mark.real
def test_the_script_makes_all_of_them(tmp_path):
    made = subprocess.run(
        [sys.executable, str(PICTURES / "make.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.returncode == 0, made.stderr[-3000:]
    assert {path.stem for path in tmp_path.glob("*.svg")} == set(SHOWN)
    for picture in tmp_path.glob("*.svg"):
        check(picture)


@pytest.mark.parametrize("name", SHOWN)
def test_the_kept_ones_are_whole(name):
    check(PICTURES / f"{name}.svg")
