"""How soon a broker serves and how much memory it holds, empty and with many idle partitions."""
