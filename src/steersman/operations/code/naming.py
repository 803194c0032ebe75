"""How a symbol is asked for: by its name, by the end of its name path, or by the whole of it."""


def matches(wanted: str, name_path: str, substring: bool = False) -> bool:
    """Whether a name path is what was asked for.

    `send` and `Client/send` mean the end of the path, `/Client/send` all of it. With `substring`
    the last part may be anywhere in the last name. A number of an overload (`send[1]`) does not
    count.
    """
    parts, whole = split(wanted)
    path = name_path.split("/")
    if not parts or len(parts) > len(path) or (whole and len(parts) != len(path)):
        return False
    *above, last = parts
    fits = last in path[-1] if substring else last == path[-1]
    return fits and (not above or path[len(path) - len(parts) : -1] == above)


def split(wanted: str) -> tuple[list[str], bool]:
    """The parts of what is asked for, and whether they are the whole path."""
    whole = wanted.startswith("/")
    parts = [part for part in wanted.strip().split("/") if part]
    if parts:
        parts[-1] = _without_number(parts[-1])
    return parts, whole


def last_part(wanted: str) -> str:
    """The name itself, without what it is defined in."""
    parts, _ = split(wanted)
    return parts[-1] if parts else ""


def _without_number(name: str) -> str:
    head, bracket, tail = name.rpartition("[")
    return head if bracket and head and tail.endswith("]") and tail[:-1].isdigit() else name
