"""The command ``leakbound``, which is also ``python -m leakbound``."""

import signal
import sys

from leakbound import _core


def main() -> None:
    """Runs the command with the arguments of this process, and ends with its exit status."""
    # The command heeds Ctrl-C itself; Python would only note it until the command is done. Where it is ignored, as in the
    # background of a shell, it stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_core.run_program(["leakbound", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
