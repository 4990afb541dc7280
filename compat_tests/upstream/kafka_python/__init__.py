"""kafka-python's integration tests, as they lie in its source distribution.

plugin       what the tests need and the distribution lacks; loaded into their pytest
passing.txt  the tests that pass
"""
