"""Where the registry is kept."""

from harbour.storage import memory
from harbour.storage.base import Store

__all__ = ["Store", "memory"]
