"""The roles of a folder."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.identity import agents
from steersman.identity.agents import Roles

if TYPE_CHECKING:
    from steersman.host.application import Host


class Known(Struct, frozen=True):
    """The roles; `unused`: the folder has some that are not used, because it is not trusted."""

    found: Roles
    unused: bool


def known(host: "Host", folder: str, environ: Mapping[str, str]) -> Known:
    """Every role that a folder and its user have."""
    trusted = host.permissions.folder(folder).loads
    found = agents.find(folder, environ, trusted=trusted)
    unused = not trusted and agents.find(folder, environ, trusted=True) != found
    return Known(found, unused)
