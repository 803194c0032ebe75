"""The demo: a sample project with a real bug, and a script that a model plays to fix it."""

import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

from steersman.records.errors import UsageProblem

TASK = "The tests of this project fail. Find out why, fix the code, and prove it."


def model() -> str:
    """The scripted model that fixes the sample."""
    return f"scripted:{files('steersman') / 'samples' / 'harbour.json'}"


def lay_out(keep: str | None = None) -> Path:
    """Put the sample project into a folder, a new one unless it is named."""
    folder = Path(keep).absolute() if keep else Path(tempfile.mkdtemp(prefix="steersman-demo-"))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageProblem(
            f"{folder} is not an empty folder.",
            "The demo overwrites nothing.",
            "Name a new folder: steer demo --keep DIR.",
        )
    source = Path(str(files("steersman") / "samples" / "harbour"))
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=skip)
    return folder
