"""The skills of a folder: found, read, installed, switched on and off."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.identity import skills
from steersman.identity.skills import Shelf, Skill

if TYPE_CHECKING:
    from steersman.host.application import Host


class Skills(Struct, frozen=True):
    """The skills that can be used in a folder; `off` are disabled.

    `unused`: the folder has skills of its own that are not used, because it is not trusted.
    """

    shelf: Shelf
    off: frozenset[str]
    unused: bool


def find(host: "Host", folder: str, environ: Mapping[str, str]) -> Skills:
    """Every skill that can be used in a folder."""
    trusted = host.permissions.folder(folder).loads
    shelf = skills.find(folder, environ, trusted=trusted)
    unused = not trusted and skills.find(folder, environ, trusted=True).skills != shelf.skills
    return Skills(shelf, skills.disabled(host.store, shelf), unused)


def read(host: "Host", folder: str, environ: Mapping[str, str], name: str) -> tuple[Skill, str]:
    """A skill and what it says, with the names of its files."""
    skill = find(host, folder, environ).shelf.get(name)
    return skill, skills.load(skill)


def install(path: str, environ: Mapping[str, str], *, replace: bool) -> Skill:
    """Copy the skill in a folder or a .zip file into the user's own."""
    from steersman.identity.skill_install import install as copied

    return copied(os.path.expanduser(path), environ, replace=replace)


def switch(host: "Host", folder: str, environ: Mapping[str, str], name: str, *, on: bool) -> None:
    """Switch a skill on or off, wherever it is found; one that is gone can be switched on."""
    shelf = skills.find(folder, environ, trusted=True)
    gone = all(skill.name != name for skill in shelf.skills)
    if gone and not (on and host.store.setting(skills.SCOPE, name)):
        shelf.get(name)
    skills.switch(host.store, name, on=on)
