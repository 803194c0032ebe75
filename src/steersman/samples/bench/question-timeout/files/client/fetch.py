"""Fetch a page and try again when nobody answers."""

import time

from client.settings import load


def fetch(get, url):
    """`get` raises TimeoutError after the seconds it is given."""
    settings = load()
    for attempt in range(settings["retries"] + 1):
        try:
            return get(url, settings["timeout"])
        except TimeoutError:
            if attempt == settings["retries"]:
                raise
            time.sleep(settings["pause"] * 2**attempt)
