"""A home for Serena that is ours: its settings, what it fetches, what it notes about projects.

Serena's own defaults would put a folder into the user's repository, open a window, offer one tool
that runs programs, and fetch a language server. A home that a person set up is never touched.
"""

import json
import os
from collections.abc import Mapping

CONFIG = "serena_config.yml"
_WRITTEN = "steersman.yml"  # what was last written; Serena adds to its own file
_KEPT = "# these settings are not ours to change\n"


def prepare_home(folder: str, *, ty: str = "") -> str:
    """A folder as SERENA_HOME, with its settings written; `ty` is that program, if it is there."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    text = settings(folder, ty)
    noted = os.path.join(folder, _WRITTEN)
    config = os.path.join(folder, CONFIG)
    if not os.path.exists(config) or _read(noted) not in (text, _KEPT):
        for path in (config, noted):
            _write(path, text)
    return folder


def keep_settings(folder: str, text: str) -> None:
    """Give a home settings of someone else, which stay as they are."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    _write(os.path.join(folder, CONFIG), text)
    _write(os.path.join(folder, _WRITTEN), _KEPT)


def settings(folder: str, ty: str = "") -> str:
    """The settings: plain tools, no windows, notes about a project beside them and not in it."""
    notes = os.path.join(folder, "projects") + "$projectDir"
    lines = [
        "agent_interface: tools",
        "web_dashboard: false",
        "web_dashboard_open_on_launch: false",
        "gui_log_window: false",
        "log_level: 30",
        f"project_serena_folder_location: {json.dumps(notes)}",
        "trusted_project_path_patterns: []",
        "projects: []",
    ]
    if ty:
        lines += [
            f"ls_specific_settings: {{python_ty: {{ls_path: {json.dumps(ty)}}}}}",
            "ls_priorities: {python: 0, python_ty: 3}",
        ]
    return "\n".join(lines) + "\n"


def environment(folder: str) -> Mapping[str, str]:
    """What Serena's environment needs besides: its home, and nothing reported to anyone."""
    return {"SERENA_HOME": folder, "SERENA_USAGE_REPORTING": "false"}


def _write(path: str, text: str) -> None:
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""
