"""The output styles that can be used in a folder."""

from collections.abc import Mapping

from steersman.host.application import Host
from steersman.identity import styles
from steersman.identity.styles import PLAIN as PLAIN


def find(host: Host, folder: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Names of styles, each with what it is about."""
    trusted = host.permissions.folder(folder).loads
    found = styles.find(folder, environ, trusted=trusted)
    return {PLAIN: "Nothing is said about the style.", **{n: s.about for n, s in found.items()}}
