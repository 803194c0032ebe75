"""Values that a shell can complete because they are known here: threads, models."""

import os
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import click

from steersman.records.patterns import pattern

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

MOST = 100
_PLAIN = pattern(r"[\w.:@/+-]+")  # what a shell takes as it is


def thread_ids(_: click.Context, __: click.Parameter, begun: str) -> "list[CompletionItem]":
    """Threads by their ids, the most recently used first."""
    from click.shell_completion import CompletionItem

    from steersman.ports.cli.options import open_host
    from steersman.records.errors import SteersmanError
    from steersman.views.text import flat

    with suppress(SteersmanError):  # nothing is completed, and the command itself says why
        found = (one for one in open_host().threads() if one.id.startswith(begun))
        return [CompletionItem(one.id, help=flat(one.title)) for one in islice(found, MOST)]
    return []


def model_names(_: click.Context, __: click.Parameter, begun: str) -> "list[CompletionItem]":
    """Models of the settings, and those that providers offered when they were last asked."""
    from click.shell_completion import CompletionItem

    from steersman.host.catalogue import remembered
    from steersman.host.settings import settings_for
    from steersman.records.errors import SteersmanError

    with suppress(SteersmanError):
        names = remembered(settings_for(os.environ, {}), os.environ)
        plain = [one for one in names if one.startswith(begun) and _PLAIN.fullmatch(one)]
        return list(map(CompletionItem, plain[:MOST]))
    return []
