"""Aider's repo map, run by the Python of aider's own environment; nothing of ours is imported.

A task comes in as JSON: a folder, its files, and either `words` (one map is made of what they
mention) or `questions` (for each, the files in the order in which the map would take from them).
"""

import json
import os
import re
import sys
from typing import Any

from aider.repomap import RepoMap


class Io:
    """What the map needs of a terminal: it reads files and says nothing."""

    def read_text(self, path: str) -> str | None:
        """The text of a file, as aider reads it."""
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except (OSError, UnicodeDecodeError):
            return None

    def tool_output(self, *words: Any, **more: Any) -> None:
        """Nothing is shown."""

    tool_warning = tool_error = tool_output


class Model:
    """What the map needs of a model."""

    def token_count(self, text: str) -> int:
        """About as many as there are."""
        return len(text) // 4


def main() -> None:
    """Do the task of the standard input."""
    task = json.load(sys.stdin)
    root, files = task["root"], [os.path.join(task["root"], name) for name in task["files"]]
    made = RepoMap(map_tokens=8192, root=root, main_model=Model(), io=Io(), refresh="always")
    if "words" in task:
        words = set(task["words"])
        text = made.get_repo_map([], files, mentioned_fnames=set(), mentioned_idents=words)
        print(json.dumps({"characters": len(text or "")}))
        return
    print(json.dumps([order(made, task["files"], files, text) for text in task["questions"]]))


def order(made: Any, names: list[str], files: list[str], question: str) -> list[str]:
    """The files of a question, with idents and file names mentioned as aider's chat finds them."""
    words = set(re.split(r"\W+", question)) - {""}
    stems = {word.lower() for word in words if len(word) >= 5}
    mentioned = {n for n in names if os.path.basename(n).partition(".")[0].lower() in stems}
    tags = made.get_ranked_tags([], files, mentioned, words)
    return list(dict.fromkeys(tag[0] for tag in tags))[:50]


main()
