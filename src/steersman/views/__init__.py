"""What several ports show alike: a thread as blocks, commands, mentions, choosing hunks."""
