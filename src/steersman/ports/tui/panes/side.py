"""The column beside the conversation; on a narrow screen it takes the conversation's place."""

from textual.containers import Vertical
from textual.message import Message


class Side(Vertical):
    """Panes below one another."""

    class Closed(Message):
        """The person has looked at the changes enough."""

    def on_diff_pane_closed(self, event: Message) -> None:
        """One of the panes here is to be closed, and not one that is over the screen."""
        event.stop()
        self.post_message(self.Closed())
