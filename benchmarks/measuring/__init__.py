"""What all benchmarks share: brokers as processes, load from several clients, figures and ratios.

processes   kbroker, Apache Kafka and kfake as processes, and what the kernel says of them
side        one of the compared brokers: running for all workloads, or fresh for one
topics      topics that nobody has used, filled and removed
frames      requests as bytes, ready to be sent
raw_load    our generator (Go), which sends them
clients     Kafka's own perf tools, and librdkafka
end_to_end  from producer to consumer, at a fixed rate
figures     what a run came to; medians, ratios, tables
"""
