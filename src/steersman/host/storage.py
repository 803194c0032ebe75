"""The store that a person uses: opened for a host, looked at, brought up to date, copied."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from steersman.host.application import Host
from steersman.identity.settings import data_folder
from steersman.records.message import MASK


def open_host(environ: Mapping[str, str]) -> Host:
    """The host on this person's data."""
    return Host.at(data_folder(environ), environ)


def shown(url: str) -> str:
    """A store's URL as people may see it: without a password."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return url.replace(f":{parts.password}@", f":{MASK}@", 1)
