"""Completion in the terminal: `assistant.py` works for the composer, `popup.py` shows the list."""
