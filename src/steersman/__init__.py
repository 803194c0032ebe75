"""Steersman: a local-first host for coding agents."""

__version__ = "0.1.0"
