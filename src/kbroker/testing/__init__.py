"""A real broker inside a test: started in milliseconds, gone without a trace.

broker   Broker, a broker in a thread of this process, on a free port, in a temporary directory
process  BrokerProcess, a broker in a process of its own, to be killed and started again
plugin   the pytest fixture ``kbroker``, which every project has that installed this package
"""

from kbroker.testing.broker import Broker
from kbroker.testing.process import BrokerProcess

__all__ = ["Broker", "BrokerProcess"]
