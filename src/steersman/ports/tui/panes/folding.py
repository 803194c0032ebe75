"""What is between the conversation and the composer, and makes room where the screen is small."""

from textual.widget import Widget


class Folding(Widget):
    """A widget of a few lines, and no more than it is given."""

    most = 5

    def fold(self, most: int) -> None:
        """Show not more than so many lines."""
        if most != self.most:
            self.most = most
            self.refresh(layout=True)
