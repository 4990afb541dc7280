"""A real broker inside a test: started in milliseconds, gone without a trace.

broker   Broker, a broker in a thread of this process, on a free port, in a temporary directory
plugin   the pytest fixture ``kbroker``, which every project has that installed this package
"""

from kbroker.testing.broker import Broker

__all__ = ["Broker"]
