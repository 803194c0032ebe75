"""The words of `views/text.py`, by the name that the command line still uses."""

from steersman.views.text import *  # noqa: F403
