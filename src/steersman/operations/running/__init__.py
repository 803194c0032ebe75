"""Commands: where they run, what they print, what they did, and that none outlives the host."""
