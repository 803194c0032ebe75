"""The files behind hooks that can say no, as they were when the thread was opened.

A hook of the folder is only used when the user agreed to these files as they are. Who changes one
later, in whatever way, changes what the hook says: so it is compared before each run.
"""

import os
from collections.abc import Iterable

from steersman.governance.folders import digest_of_file, digests
from steersman.governance.policy import Book
from steersman.governance.rule import BEHIND_HOOKS
from steersman.records.action import Write
from steersman.records.hooks import BLOCKERS, Hook
from steersman.records.message import Message, Policy, ToolResult
from steersman.threads.startups import behind_hooks

States = dict[str, str]  # digests of files, by their paths


class HookFiles:
    """What is known of the files behind the hooks of one thread."""

    def __init__(self, hooks: Iterable[Hook], root: str, path: str) -> None:
        self._root = os.path.realpath(root)
        self._path = path
        self._planned: dict[str | None, list[Write]] = {}  # by the calls that they are part of
        self._approved: States = {}  # what was made of files with the user's approval
        self._agreed: dict[str, States] = {}
        self._agreed = {one.command: self.now(one) for one in hooks if one.event in BLOCKERS}

    def now(self, hook: Hook) -> States:
        """The files behind a hook as they are; one that the user let be changed as it was."""
        paths = behind_hooks((hook,), self._root, self._path).every(self._root)
        now = digests(self._root, paths)
        agreed = self._agreed.get(hook.command, now)
        for path in _differing(agreed, now):
            if self._approved.get(path) == digest_of_file(os.path.join(self._root, path)):
                now.pop(path, None)
                now |= {path: agreed[path]} if path in agreed else {}
        return now

    def changed(self, hook: Hook, now: States) -> list[str]:
        """Which of them are not as they were agreed to."""
        return _differing(self._agreed[hook.command], now)

    def agree(self, hook: Hook, now: States) -> None:
        """The user let the hook run with its files as they are."""
        self._agreed[hook.command] = now

    def observe(self, message: Message, rules: Book) -> None:
        """Who approved of a change of such a file is not asked again when the hook is run."""
        match message.body:
            case Policy(action=Write() as change) if change.origin != "past":
                word = rules.verdict(change, "", None, self._root)
                if word is not None and word.rule.startswith(BEHIND_HOOKS):
                    self._planned.setdefault(message.corr, []).append(change)
            case ToolResult(status=status):
                for change in self._planned.pop(message.corr, ()):
                    if status == "ok":
                        self._approved[os.path.relpath(change.path, self._root)] = change.after


def _differing(agreed: States, now: States) -> list[str]:
    return sorted(path for path in {*agreed, *now} if agreed.get(path) != now.get(path))
