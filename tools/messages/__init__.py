"""From Kafka's message definitions to our message modules.

jars         where the definitions lie, and which of them we take
definitions  the definitions as typed values, without their prose
names        what Kafka's names are called here
module_text  one message module as source text
"""
