"""A thread whose files are on another machine: the line there, the agent at its other end."""
