"""What goes wrong when bytes are not a Kafka message."""


class ProtocolError(Exception):
    """The bytes are not what the protocol allows; the connection they came from is lost.

    The only exception that leaves a decoder, whatever the bytes.
    """


class FieldNotInVersionError(ValueError):
    """A message carries a value that the chosen version has no field for.

    Raised when encoding requests and stored structures: sending them without the value would ask
    for something else. Responses drop such fields, because an old client does not expect them.
    """
