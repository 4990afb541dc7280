"""Listeners, connections, dispatch and sending: how clients reach the handlers.

serving        serve(), a whole broker from configs to a clean stop
settings       ServerSettings and ListenerSettings, under Kafka's names and defaults
server         Server, all listeners and connections of one broker
listener       Listener, one listening socket and its accept loop
admission      Admission, how many connections there may be
poller         Poller, which watches all sockets and gives connections their turns
connection     Connection, requests begun in order and answered in order
dispatch       Dispatcher, from the bytes of a request to the bytes of its answer
frames         ReceiveBuffer, length-prefixed frames in one growing buffer
sending        parts of answers to bytes on the wire; sendfile
transports     Transport, what a connection asks of its socket; SocketTransport, a plain one
stats          ServerStats, what the server counts
tls            what a listener needs to encrypt, from Kafka's configs
tls_transport  TlsTransport, a socket that encrypts
"""

from kbroker.server.dispatch import Dispatcher
from kbroker.server.server import Server
from kbroker.server.settings import BoundAddress, ListenerSettings, ServerSettings

__all__ = ["BoundAddress", "Dispatcher", "ListenerSettings", "Server", "ServerSettings"]
