"""Groups beside Apache Kafka: a thousand members in one group, and a thousand groups of one.

crowd   members on connections of their own, who join, beat and commit with little effort
"""
