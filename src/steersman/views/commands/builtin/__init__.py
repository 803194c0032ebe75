"""One module for each topic: its tuple `COMMANDS` is what the registry offers."""
