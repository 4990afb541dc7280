"""Generators, capture scripts and neighbours to compare with, for developers."""
