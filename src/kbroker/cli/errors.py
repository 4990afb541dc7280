"""How a command fails: one clear line on stderr, and an exit code that scripts can tell apart."""

# The input makes no sense; nothing was asked of the cluster, or nothing more will be.
BAD_INPUT = 2
# The cluster refused, or cannot be reached.
REFUSED = 1


class CommandError(Exception):
    """The line to print, without the name of the program, and the exit code."""

    def __init__(self, line: str, exit_code: int = BAD_INPUT) -> None:
        super().__init__(line)
        self.exit_code = exit_code
