"""Diagnostics by the programs a project has: linters, type checkers, compilers that only check."""
