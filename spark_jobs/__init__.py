"""PySpark jobs for Kafka topics, one folder each: a pure transform, a thin main, a README, tests.

session       the Spark session, with the connector that fits the installed PySpark
options       what the jobs ask on their command lines, and how they complain
topics        reading and writing topics with Spark's connector; checks before Spark starts
dead_letters  the headers of records that could not be used, and who reads them
progress      one line per micro batch while a stream runs

topic_to_lake, lake_to_topic, windowed_counts, enrich, audit, dead_letter_replay   the jobs

Transforms use Spark's own expressions alone, no Python function runs on executors. So executors
need no Python packages, and every path is one that Spark reads: a cluster's as well as a laptop's.
"""
