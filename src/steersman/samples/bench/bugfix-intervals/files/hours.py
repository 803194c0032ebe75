"""Opening hours as spans of full hours."""


def merge(spans):
    """Join spans that overlap or touch; the answer is in order."""
    merged = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def total(spans):
    """How many hours a shop is open."""
    return sum(end - start for start, end in merge(spans))


def show(spans):
    """The hours as people read them."""
    return ", ".join(f"{start}–{end}" for start, end in merge(spans)) or "closed"
