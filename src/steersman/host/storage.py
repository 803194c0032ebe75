"""The store that a person uses: opened for a host, looked at, brought up to date, copied."""

from collections.abc import Mapping

from steersman.host.application import Host
from steersman.identity.settings import data_folder


def open_host(environ: Mapping[str, str]) -> Host:
    """The host on this person's data."""
    return Host.at(data_folder(environ), environ)
