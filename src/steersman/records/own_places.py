"""Where this person's state is kept, as the environment says."""

import sys
from collections.abc import Mapping
from pathlib import Path


def data_folder(environ: Mapping[str, str]) -> Path:
    """Where threads and the rest of the state are kept."""
    if environ.get("STEERSMAN_HOME"):
        return Path(environ["STEERSMAN_HOME"]).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "steersman"
    base = environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "steersman"
