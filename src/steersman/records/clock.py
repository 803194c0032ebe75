"""The present, as the log writes it."""

from datetime import UTC, datetime


def now() -> datetime:
    """The present, in the precision the log keeps."""
    time = datetime.now(UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)
