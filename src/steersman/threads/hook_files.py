"""The files behind hooks that can say no, as they were when the thread was opened.

A hook of the folder is only used when the user agreed to these files as they are. Who changes one
later, in whatever way, changes what the hook says: so it is compared before each run.
"""

from collections.abc import Iterable

from steersman.governance.folders import files_finding
from steersman.records.hooks import BLOCKERS, Hook
from steersman.threads.startups import behind_hooks

States = dict[str, str]  # digests of files, by their paths


class HookFiles:
    """What is known of the files behind the hooks of one thread."""

    def __init__(self, hooks: Iterable[Hook], root: str, path: str) -> None:
        self._root = root
        self._path = path
        self._agreed = {one.command: self.now(one) for one in hooks if one.event in BLOCKERS}

    def now(self, hook: Hook) -> States:
        """The files behind a hook as they are."""
        paths = behind_hooks((hook,), self._root, self._path).every(self._root)
        return {path: files_finding(self._root, path, "", (path,)).digest for path in paths}

    def changed(self, hook: Hook, now: States) -> list[str]:
        """Which of them are not as they were agreed to."""
        agreed = self._agreed[hook.command]
        return sorted(path for path in {*agreed, *now} if agreed.get(path) != now.get(path))

    def agree(self, hook: Hook, now: States) -> None:
        """The user let the hook run with its files as they are."""
        self._agreed[hook.command] = now
