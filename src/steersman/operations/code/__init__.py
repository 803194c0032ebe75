"""Code intelligence: symbols, references and diagnostics in one shape, whatever serves them."""
