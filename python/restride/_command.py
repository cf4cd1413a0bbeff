"""The command `restride` and the programs behind it, and how they are run."""

from __future__ import annotations

import os
import shutil
import signal
import sys

from ._library import PACKAGED, Error


def command() -> str:
    """The path of the command line: the one in this package, else the system's."""
    packaged = os.path.join(PACKAGED, "bin", "restride")
    found = packaged if os.path.exists(packaged) else shutil.which("restride")
    if found is None:
        raise Error("The command restride is neither in this package nor in PATH; install the wheel.", 8)
    return found


def main() -> None:
    """What pip installs as `restride`: becomes the program itself."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these
        signal.signal(number, signal.SIG_DFL)
    try:
        path = command()
        os.execv(path, ["restride", *sys.argv[1:]])
    except (Error, OSError) as error:
        sys.exit(f"restride: {error}")
