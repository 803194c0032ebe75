"""A thread in the shape in which Claude Code prints and is spoken to, for programs made for it."""
