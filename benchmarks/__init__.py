"""Measurements of the product, as ratios or against a named limit, all in one run."""
