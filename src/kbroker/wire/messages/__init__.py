"""One module per API and per record of the internal topics; generated.

This package imports none of them: `kbroker.wire.apis` does when a key is first asked for, and
whoever handles a message imports its module.
"""
