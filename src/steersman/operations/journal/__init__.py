"""Changes of files that can be taken back: kept, committed all or none, planned for undo."""
