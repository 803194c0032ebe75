"""Language servers, driven over their protocol."""
