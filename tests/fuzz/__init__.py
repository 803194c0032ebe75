"""Random trees, random commands over them, and what must hold afterwards.

`python -m tests.fuzz SEED [SEED …]` plays rounds again; `FIRST-LAST` stands for many.
"""
