"""What a workspace has, for something that is tried out in it with no thread open."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from steersman.governance.environment import command_environ
from steersman.governance.secret_finder import unreadable
from steersman.identity.settings import config_file, data_folder
from steersman.operations.running.guardian import Guardian
from steersman.records.settings import Settings
from steersman.threads.resources import Machine, Terms, WorkspaceResources

if TYPE_CHECKING:
    from steersman.threads.permissions import Permissions


@asynccontextmanager
async def alone(
    folder: str, environ: Mapping[str, str], permissions: "Permissions"
) -> AsyncIterator[tuple[WorkspaceResources, Guardian]]:
    """A workspace of its own; whatever was started has ended when the block has."""
    home, private = str(data_folder(environ)), str(config_file(environ).parent)
    rules = permissions.book(permissions.rules(folder, Settings()))
    inherited = command_environ(environ)
    terms = Terms(folder, inherited, unreadable(rules), permissions.exceptions(folder))
    guardian = Guardian()
    machine = Machine(home, environ, permissions.home, (home, private), permissions.covers)
    resources = WorkspaceResources(machine, terms, guardian)
    try:
        yield resources, guardian
    finally:
        await resources.close()
        guardian.close()
