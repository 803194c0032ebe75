"""The column beside the conversation; on a narrow screen it takes the conversation's place."""

from textual.containers import Vertical


class Side(Vertical):
    """Panes below one another; keys never go here."""
