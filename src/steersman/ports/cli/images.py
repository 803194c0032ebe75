"""The pictures of `views/images.py`, by the name that the command line still uses."""

from steersman.views.images import *  # noqa: F403
