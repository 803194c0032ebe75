"""The repositories here are looked at by tests; what is in them is not run."""

collect_ignore_glob = ["*"]
