"""Tests on several machines, made of network namespaces with process trees of their own."""
