"""An open thread: its five systems put together, its turns, its servers, its way back."""
