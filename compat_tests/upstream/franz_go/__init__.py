"""franz-go's tests of its client kgo, from the Go module that compat_tests/go_clients pins.

passing.txt  the tests that pass
"""
