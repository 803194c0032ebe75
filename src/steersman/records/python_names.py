"""Files that Python loads in place of its own modules when they lie where it looks first. Pure."""

import sys

from steersman.records.patterns import pattern

HIDING = "<module of Python>"  # stands for all of them in patterns of paths
STANDARD = frozenset({*sys.stdlib_module_names, "sitecustomize", "usercustomize"})
_NAMES = "|".join(sorted(STANDARD))
# In Python's own words: a source, a compiled one, an extension, or a package that is one of these.
HIDES = pattern(rf"(?:{_NAMES})(?:/__init__)?(?:\.pyc?|(?:\.[\w-]+)?\.so)")
