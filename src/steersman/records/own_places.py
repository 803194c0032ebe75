"""Where the user's state and settings are kept, as the environment says."""

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


def config_folder(environ: Mapping[str, str]) -> Path:
    """Where the user's settings are kept."""
    if sys.platform == "darwin" and not environ.get("XDG_CONFIG_HOME"):
        return Path.home() / "Library" / "Application Support" / "steersman"
    base = environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "steersman"
