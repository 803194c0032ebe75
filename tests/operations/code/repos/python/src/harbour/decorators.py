"""Wrappers for methods."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

CALLS: list[str] = []


def logged(function: Callable[P, R]) -> Callable[P, R]:
    """Remember that a function was called."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        CALLS.append(repr(function))
        return function(*args, **kwargs)

    return wrapper


def retried(times: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Try again a few times."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            for _ in range(times - 1):
                try:
                    return function(*args, **kwargs)
                except OSError:
                    continue
            return function(*args, **kwargs)

        return wrapper

    return decorate
