"""The web as tools see it: one way to fetch, a reader of pages, engines to search with."""
