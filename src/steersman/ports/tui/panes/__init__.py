"""Panes around the conversation: the task log, the status, the todo strip, queued messages."""
