"""Small files, a record a line; empty lines and lines that begin with # are skipped."""


def read_numbers(text):
    """Numbers, one a line."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            found.append(float(line))
        except ValueError:
            raise ValueError(f"line {number}: not a number: {line}") from None
    return found


def read_pairs(text):
    """`name = value`, one a line; later ones win."""
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f"line {number}: not a pair: {line}")
        found[name.strip()] = value.strip()
    return found


def read_points(text):
    """`x, y`, one a line."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        parts = line.split(",")
        try:
            x, y = (float(part) for part in parts)
        except ValueError:
            raise ValueError(f"line {number}: not a point: {line}") from None
        found.append((x, y))
    return found
