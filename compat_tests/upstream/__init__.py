"""The integration tests that clients' authors wrote for their clients, run against kbroker.

suite         Suite, Outcome: run one, and compare with the list of what passed before
kafka_python  kafka-python's, from its source distribution
franz_go      franz-go's, from its Go module
"""
