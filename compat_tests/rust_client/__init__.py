"""rust-rdkafka, the crate `rdkafka`: the client of programs in Rust, around librdkafka."""

VERSION = "0.39.0"
