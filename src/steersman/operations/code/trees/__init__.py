"""Outlines and definitions read from syntax trees."""
