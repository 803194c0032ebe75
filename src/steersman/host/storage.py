"""The store that a person uses: opened for a host, looked at, brought up to date, copied."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steersman.host.application import Host
from steersman.host.settings import store_url
from steersman.identity.settings import data_folder
from steersman.records.errors import UsageProblem
from steersman.store import open_store

if TYPE_CHECKING:
    from steersman.store.contract import StoreStatus
    from steersman.store.moving import Copied
    from steersman.store.postgres import PostgresStore
    from steersman.store.sqlite import SqliteStore


def open_host(environ: Mapping[str, str]) -> Host:
    """The host on this person's data."""
    return Host.at(data_folder(environ), environ)


def looked_at(environ: Mapping[str, str]) -> "StoreStatus":
    """What the user's store is and how much it holds; opening it brings it up to date."""
    with _opened(store_url(environ), environ) as store:
        return store.status()


def copied_to(
    url: str, environ: Mapping[str, str], progress: Callable[[str, int, int], None]
) -> "Copied":
    """Copy everything into another store; every chain is verified there.

    `progress` gets each thread's id, how many are done with it, and how many there are.
    """
    from steersman.store.moving import copy

    own = store_url(environ)
    with _opened(own, environ) as source, _opened(url, environ) as target:
        if source.where == target.where:
            raise UsageProblem(
                "That is the store you use already.",
                f"Both are {source.where}.",
                "Name another one: steer store copy --to URL.",
            )
        return copy(source, target, lambda thread, done, every: progress(thread.id, done, every))


@contextmanager
def _opened(url: str, environ: Mapping[str, str]) -> "Iterator[SqliteStore | PostgresStore]":
    store = open_store(url, data_folder(environ), environ)
    try:
        yield store
    finally:
        store.close()
