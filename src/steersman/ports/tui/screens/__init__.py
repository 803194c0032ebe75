"""Screens over the conversation: pickers, help, questions that come before all else."""
