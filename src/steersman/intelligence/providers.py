"""The providers that need no settings, as `providers.toml` describes them."""

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from steersman.intelligence.configured import Wire


class Provider(Struct, frozen=True, forbid_unknown_fields=True):
    """One provider; the file says what each field means."""

    name: str
    wire: Wire
    base_url: str
    account: str = ""
    urls: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    keys_at: str = ""
    key_check: str = ""
    no_chat: str = ""
    headers: dict[str, str] = {}
    port: int = 0
    lists: str = "/v1/models"
    owner: str = ""

    @property
    def local(self) -> bool:
        """True for a server on this machine."""
        return bool(self.port)


@cache
def providers() -> dict[str, Provider]:
    """All of them, by the names that models carry."""
    import tomllib

    data = Path(__file__).with_name("providers.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(data), dict[str, Provider])


def account_of(provider: str) -> str:
    """The provider whose key another one uses; mostly itself."""
    known = providers().get(provider)
    return known.account if known and known.account else provider
