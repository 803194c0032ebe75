"""How each format's streamed answers are understood; no I/O."""
