"""Measurements side by side with other implementations; each folder says what and how."""
