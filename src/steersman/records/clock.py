"""The present, as the log writes it; and times as people read them."""

from datetime import UTC, datetime, tzinfo


def now() -> datetime:
    """The present, in the precision the log keeps."""
    time = datetime.now(UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


def local(time: datetime, zone: tzinfo | None = None) -> datetime:
    """A time in a zone, or in that of this machine.

    Files of others may say any: one at the end of the calendar, which has no other, stays as it is.
    """
    try:
        return time.astimezone(zone)
    except (OverflowError, ValueError):
        return time.replace(tzinfo=time.tzinfo or UTC)
