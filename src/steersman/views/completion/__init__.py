"""Completion: what may be meant by what is being written.

`fuzzy.py` finds and ranks, `files.py` knows the files of a folder, `sources.py` reads what the
cursor is at and offers files, skills and commands. How that is shown is a port's own.
"""
