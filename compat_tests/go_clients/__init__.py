"""franz-go and Sarama, the clients of programs in Go: one member of a group each."""
