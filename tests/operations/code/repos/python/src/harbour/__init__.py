"""Berths for ships."""

from harbour.berths import Berth, BerthTaken
from harbour.registry import Registry, open_registry
from harbour.ships import Ship, Tanker, describe
from harbour.ships import Ship as Vessel

__all__ = ["Berth", "BerthTaken", "Registry", "Ship", "Tanker", "Vessel", "describe", "open_registry"]
