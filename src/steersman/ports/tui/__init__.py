"""The terminal application: a chat over `Host` that shows what the log says, and nothing else."""
