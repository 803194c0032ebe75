"""Nothing in this folder is timed."""

import tests.store.calm  # noqa: F401
