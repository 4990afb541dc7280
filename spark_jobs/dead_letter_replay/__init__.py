"""Dead letters back to where they came from, and to a parking topic after too many attempts."""
