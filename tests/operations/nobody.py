"""Deeds of somebody without rights: `python -m tests.operations.nobody FOLDER`.

Root may do anything, so whoever runs the tests as root becomes nobody first.
"""

import codecs
import json
import os
import sys
from pathlib import Path

from tests.operations.workshop import Workshop

DEEDS = {
    "read": ("workspace_read_file", {"path": "secret.txt"}),
    "list": ("workspace_list_files", {"path": "locked"}),
    "create": ("workspace_write_file", {"path": "fixed/new.txt", "content": "new\n"}),
    "replace": ("workspace_write_file", {"path": "fixed/kept.txt", "content": "new\n"}),
}


def main(folder: str) -> None:
    """Try what is not permitted and say what came of each."""
    warm_up(Path(folder))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    said = {}
    for name, deed in DEEDS.items():
        (result,) = Workshop(Path(folder)).do(deed)
        said[name] = [result.status, result.message]
    print(json.dumps(said))


def warm_up(folder: Path) -> None:
    """Import what nobody may be unable to import later."""
    codecs.lookup("ascii")
    for tool, arguments in DEEDS.values():
        Workshop(folder, mode="ask").one(tool, **arguments)
    Workshop(folder).one("workspace_write_file", path="warm.txt", content="")
    (folder / "warm.txt").unlink()


if __name__ == "__main__":
    main(sys.argv[1])
