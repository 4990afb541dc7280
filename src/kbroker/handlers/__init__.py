"""One file per Kafka API: authorise, ask the broker, answer.

table         Served and TABLE: which APIs are served, in which versions, by which module
api_versions  ApiVersions; and so on, each file named like its API
"""
