"""Topics into partitioned Parquet, exactly once; what cannot be read becomes a dead letter."""
