"""Slash commands: what a person types after `/`, in the application and in plain mode alike.

`stage.py` is what a command may use of whatever shows it, `registry.py` knows them all, `builtin/`
has one module for each topic, and `files.py` reads those that people write themselves.
"""
