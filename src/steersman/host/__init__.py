"""The running application, and what it offers to every port. Ports import this, views and records.

Each module here is one subject; `Host` is loaded when it is asked for, so that a command which
needs only one subject pays for that alone.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steersman.host.application import Host, Origin, new_id
    from steersman.threads.handle import ThreadHandle

__all__ = ["Host", "Origin", "ThreadHandle", "new_id"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    if name == "ThreadHandle":
        from steersman.threads.handle import ThreadHandle

        return ThreadHandle
    from steersman.host import application

    return getattr(application, name)
