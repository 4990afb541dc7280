#!/bin/sh
# Loads Spark's Kafka connector into .cache/ivy, with the Python given as the first argument. Spark gives up
# when one file of many does not come; what has come is kept, so trying again gets further.
set -eu
for attempt in 1 2 3 4; do
    if "$1" -m spark_jobs.small_session; then
        exit 0
    fi
    echo "attempt $attempt to load Spark's connector failed" >&2
done
exit 1
