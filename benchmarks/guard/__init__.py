"""A guard of what requests cost, without a clock: how many calls Python makes for each of them.

counting    a broker in this process whose thread counts its calls
sequences   the requests that are counted
baseline    what they cost when somebody last looked (baseline.json)

A count is the same on a fast and a slow machine, so a test can compare it with the baseline, and a
hot path that has grown is seen in review and not in the next benchmark.
"""
