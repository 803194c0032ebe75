"""Changes of files that can be undone: kept, committed all or none, planned for undo."""
