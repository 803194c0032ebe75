"""The shell guard: what a command line would do, read from its text; nothing is ever run."""
