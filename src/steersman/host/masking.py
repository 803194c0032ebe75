"""What must not get into the log of a thread: the secrets that hold in its folder.

Someone may log in while the thread is open, here or in another process; that is noticed by the
files that are written then.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from steersman.governance.secrets import can_be_masked, mcp_configs, secret_values, with_lines
from steersman.host.models import config_for
from steersman.host.server_token import tokens_in
from steersman.host.settings import store_url
from steersman.identity.logins import Logins
from steersman.identity.mcp_servers import expanded_secrets
from steersman.identity.mcp_servers import find as find_servers
from steersman.identity.settings import config_file
from steersman.identity.token_files import LIST, files
from steersman.intelligence.configured import secrets
from steersman.operations.mcp.tokens import SignIns
from steersman.records.settings import Settings
from steersman.store.redactor import Redactor


class Secrets:
    """The secrets of a folder, and those that came since they were last looked at."""

    def __init__(self, root: str, environ: Mapping[str, str], home: Path, said: Settings) -> None:
        self._root = root
        self._environ = environ
        self._logins = Logins(home)
        self._sign_ins = SignIns(home / "mcp")
        self._said = said
        self._home = home
        tokens = map(str, (*files(home), home / LIST))
        self._written = (str(self._logins.list), str(self._sign_ins.folder), *tokens)
        self._seen = self._stamps()

    def redactor(self) -> Redactor:
        """What masks them, and those that come."""
        return Redactor(self._all(), news=self._new)

    def _new(self) -> set[str]:
        """All of them, if there may be new ones."""
        if (now := self._stamps()) == self._seen:
            return set()
        found = self._all()
        self._seen = now
        return found

    def _stamps(self) -> tuple[tuple[int, int], ...]:
        return tuple(map(_stamp, self._written))

    def _all(self) -> set[str]:
        configs = mcp_configs(Path(self._root), self._environ)
        own = config_file(self._environ).with_name("mcp.json")
        environ = {**self._environ, "STEERSMAN_STORE": store_url(self._environ)}
        known = secret_values(environ, [*configs, own])
        known |= self._sign_ins.secrets()
        known |= expanded_secrets(find_servers(self._root, self._environ, trusted=True).servers)
        known |= self._logins.secrets()
        known |= tokens_in(self._home)
        known |= set(secrets(config_for(self._said, self._logins), self._environ))
        return set(filter(can_be_masked, with_lines(known)))


def _stamp(path: str) -> tuple[int, int]:
    """What is another when something was written there."""
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_ino, found.st_mtime_ns)
