"""The keys that a person logged in with: in the system's keyring, or, where there is none, in a
file of the data folder that only its owner can read. Never in settings, never in the log.

Which logins there are, without their keys, is a file of its own, so that whoever has none never
waits for a keyring. A key is handed out only for the address it was given for.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from steersman.records.clock import now
from steersman.records.errors import StorageProblem
from steersman.records.plain_files import whole_plain
from steersman.records.private_files import hide, replace_file

SERVICE = "steersman"
LARGEST = 1 << 20
# Keyrings that a system guards. Others keep keys as plain text, or nowhere.
GUARDED = frozenset(
    f"keyring.backends.{name}" for name in ("macOS", "SecretService", "kwallet", "libsecret")
)
Place = Literal["keyring", "file"]


class Login(Struct, frozen=True, omit_defaults=True):
    """A login without its key; `wire` is set for a server that no settings name."""

    provider: str
    base_url: str
    place: Place
    time: str = ""
    wire: str = ""


class Logins:
    """The logins of one person, in their data folder."""

    def __init__(self, home: Path) -> None:
        self._home = home

    @property
    def file(self) -> Path:
        """Where keys are kept when there is no keyring."""
        return self._home / "keys.json"

    @property
    def list(self) -> Path:
        """Where it is written which logins there are."""
        return self._home / "logins.json"

    def all(self) -> dict[str, Login]:
        """Every login by its provider; what cannot be read is as good as none."""
        found: dict[str, Login] = _read(self.list, dict[str, Login])
        return found

    def providers(self) -> dict[str, dict[str, str]]:
        """Servers that were logged in at and that no settings name, as `[providers]` would be."""
        return {
            name: {"wire": one.wire, "base_url": one.base_url}
            for name, one in self.all().items()
            if one.wire
        }

    def key(self, provider: str, base_url: str) -> str:
        """The key for a provider at an address; empty when there is none."""
        login = self.all().get(provider)
        if login is None or login.base_url != base_url:
            return ""
        return self._key(login)

    def keep(self, provider: str, base_url: str, key: str, wire: str = "") -> Login:
        """Keep a key, and say where; an older one of the provider is forgotten."""
        self.forget(provider)
        place: Place = "keyring" if key and _into_keyring(provider, key) else "file"
        login = Login(provider, base_url, place, now().isoformat(), wire)
        if key and place == "file":
            self._write(self.file, {**self._file(), provider: key})
        self._write(self.list, {**self.all(), provider: login})
        return login

    def forget(self, provider: str) -> Login | None:
        """Forget a login and its key; the answer is what there was."""
        found = self.all()
        login = found.pop(provider, None)
        if login is None:
            return None
        if login.place == "keyring":
            _out_of_keyring(provider)
        kept = self._file()
        if kept.pop(provider, None) is not None:
            self._write(self.file, kept)
        self._write(self.list, found)
        return login

    def secrets(self) -> set[str]:
        """Every key, for whoever masks them elsewhere."""
        return {key for login in self.all().values() if (key := self._key(login))}

    def _key(self, login: Login) -> str:
        if login.place == "file":
            return self._file().get(login.provider, "")
        found = _keyring()
        if found is None:
            return ""
        try:
            return found.get_password(SERVICE, login.provider) or ""
        except _errors():
            return ""

    def _file(self) -> dict[str, str]:
        found: dict[str, str] = _read(self.file, dict[str, str])
        return found

    def _write(self, path: Path, said: Mapping[str, Any]) -> None:
        try:
            hide(path)
            replace_file(path, msgspec.json.format(msgspec.json.encode(said)).decode() + "\n")
        except OSError as error:
            raise StorageProblem(
                "The login cannot be kept.", f"{path}: {error.strerror or type(error).__name__}."
            ) from None


def _read(path: Path, kind: type[dict[str, Any]]) -> Any:
    try:
        return msgspec.json.decode(whole_plain(path, LARGEST), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def _keyring() -> Any | None:
    """The system's keyring, if there is one that guards what it holds."""
    if find_spec("keyring") is None:
        return None
    found = import_module("keyring").get_keyring()
    several = getattr(found, "backends", None)  # one that tries others in turn
    kinds = several if isinstance(several, list | tuple) else [found]
    return next((one for one in kinds if type(one).__module__ in GUARDED), None)


def _errors() -> tuple[type[Exception], ...]:
    """What a keyring that is locked, or that nobody answers for, raises."""
    return (import_module("keyring.errors").KeyringError, RuntimeError, OSError)


def _into_keyring(provider: str, key: str) -> bool:
    found = _keyring()
    if found is None:
        return False
    try:
        found.set_password(SERVICE, provider, key)
        return bool(found.get_password(SERVICE, provider) == key)
    except _errors():
        return False


def _out_of_keyring(provider: str) -> None:
    found = _keyring()
    if found is None:
        return
    try:
        found.delete_password(SERVICE, provider)
    except _errors() as error:
        if found.get_password(SERVICE, provider):
            raise StorageProblem(
                "The keyring does not forget the key.",
                f"{error}",
                f"Remove “{SERVICE}”, “{provider}” in your system's keyring.",
            ) from None
