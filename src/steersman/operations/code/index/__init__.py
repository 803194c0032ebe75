"""The index of a workspace on disk: symbols, references, and what matters for a question."""
