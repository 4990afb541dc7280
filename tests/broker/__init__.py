"""Tests of the trio shell."""
