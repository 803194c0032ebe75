"""The providers that need no settings, as `providers.json` describes them."""

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from steersman.intelligence.configured import Wire


class Provider(Struct, frozen=True, forbid_unknown_fields=True):
    """One provider: how it speaks, where it is, and which variables hold its key and address.

    Those are the variables of the provider's own clients; the first that is set counts. `account`:
    whose key it uses. `keys_at`: where keys are made. `key_check`: a path to try a key at, where
    the list of models is open to everybody. `no_chat`: models in that list that do not chat. `port`
    and `lists`: where a server on this machine listens, and the path of its list of models;
    `owner`: what that list says of the server, where several share a port.
    """

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
    data = Path(__file__).with_name("providers.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, Provider])


def account_of(provider: str) -> str:
    """The provider whose key another one uses; mostly itself."""
    known = providers().get(provider)
    return known.account if known and known.account else provider
