"""The command `restride` as a child process: what runs on files and on sources of kernels.

Files are changed by the command because a disk that fails ends a process (SIGBUS), and because its journal is written
there. Sources are read by programs of their own because of libclang (docs/architecture.md).
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any, Callable, List, NamedTuple, Optional, Sequence

from ._library import PACKAGED, Error, Interrupted, progress_of, shown

_FAILED = 8  # RESTRIDE_IO
_SHOWN_PART = re.compile(r"(\d+) % \[")
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\r")


def command() -> str:
    """The path of the command line: the one in this package, else the system's."""
    packaged = os.path.join(PACKAGED, "bin", "restride")
    found = packaged if os.path.exists(packaged) else shutil.which("restride")
    if found is None:
        raise Error("The command restride is neither in this package nor in PATH; install the wheel.", _FAILED)
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


class Answer(NamedTuple):
    output: str
    status: int
    errors: str

    def sentence(self) -> str:
        """What the program says of its failure, without its name."""
        if "libclang.so: cannot open" in self.errors:
            return "What reads kernels needs libclang, which is not installed here: pip install libclang."
        lines = [line for line in _CONTROL.sub("\n", self.errors).splitlines() if line.strip()]
        said = [re.sub(r"^restride( [a-z]+)?: ", "", line) for line in lines if line.startswith("restride")]
        return said[-1] if said else (lines[-1] if lines else f"The command ended with status {self.status}.")


def _words(arguments: Sequence[str]) -> List[bytes]:
    """The command and its arguments as the system takes them."""
    for argument in arguments:
        try:
            if b"\0" not in os.fsencode(argument):
                continue
        except UnicodeEncodeError:  # half of a surrogate pair
            pass
        raise Error(f"Paths and options are texts without zero bytes and in UTF-8, not {shown(argument)}.")
    return [os.fsencode(word) for word in (command(), *arguments)]


def ask(arguments: Sequence[str], folder: Optional[str] = None) -> Answer:
    """Runs a verb that reads; Ctrl-C ends it."""
    try:
        ran = subprocess.run(
            _words(arguments), stdin=subprocess.DEVNULL, capture_output=True, cwd=folder, check=False
        )
    except OSError as error:
        raise Error(f"The command restride could not be started: {error}.", _FAILED) from None
    return Answer(ran.stdout.decode("utf-8", "replace"), ran.returncode, ran.stderr.decode("utf-8", "replace"))


def temporary(make: Callable[..., Any], **how: Any) -> Any:
    """A file or folder that `make` of tempfile makes."""
    try:
        return make(**how)
    except OSError as error:
        raise Error(f"Nothing temporary can be written: {error}; let TMPDIR name a folder with room.", _FAILED) from None


class _Watched:
    """The terminal that a child believes to draw its bar on; what it draws is told to `progress`."""

    def __init__(self, tell: Callable[[int, int], Any], nbytes: int) -> None:
        self._master, self.slave = pty.openpty()
        self._tell, self._nbytes = tell, nbytes
        self._text: List[str] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._master, 4096)
            except OSError:  # the child has closed its end
                return
            if not piece:
                return
            text = piece.decode("utf-8", "replace")
            self._text.append(text)
            parts = _SHOWN_PART.findall(text)
            if parts:
                self._tell(self._nbytes * int(parts[-1]) // 100, self._nbytes)

    def close_slave(self) -> None:
        os.close(self.slave)

    def text(self) -> str:
        self._thread.join(timeout=5)
        os.close(self._master)
        return "".join(self._text)


class _CtrlC:
    """Ctrl-C in the main thread while a file is changed: the first one ends a change with a journal between two steps,
    the second one ends any.

    Python would raise KeyboardInterrupt anywhere: while the child begins, which then nobody waits for, or before its
    finished journal is removed. Handlers of the program's own stay.
    """

    def __init__(self, journaled: bool) -> None:
        self.count = 0
        self._journaled = journaled
        self._child: "Optional[subprocess.Popen[bytes]]" = None
        self._untold: List[int] = []
        self._before: Any = None

    def __enter__(self) -> "_CtrlC":
        if threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def watch(self, child: "subprocess.Popen[bytes]") -> None:
        self._child = child
        self._tell()

    def _press(self, *_: object) -> None:
        self.count += 1
        self._untold.append(self.count)
        self._tell()

    def _tell(self) -> None:
        while self._child is not None and self._untold:
            with contextlib.suppress(IndexError):  # another signal has come meanwhile
                if self._untold.pop(0) > 1:
                    self._child.kill()
                elif self._journaled:
                    self._child.send_signal(signal.SIGINT)


def change(arguments: Sequence[str], path: str, journal: Optional[str], progress: Any) -> "tuple[Answer, bool]":
    """Runs a verb that changes a file; whether Ctrl-C was held back until it was done.

    With a journal, Ctrl-C ends the change between two steps. Without one it waits for the end, because a file that is
    half changed is lost; pressed again, it ends the change there. A finished journal is removed.
    """
    nbytes = os.path.getsize(path) if os.path.exists(path) else 0
    with _CtrlC(journal is not None) as pressed:
        files = temporary(tempfile.TemporaryFile), temporary(tempfile.TemporaryFile)
        with files[0] as output, files[1] as errors, progress_of(progress, nbytes) as told:
            watched = None
            if told.tell is not None:
                with contextlib.suppress(OSError):  # a container may have no terminals; the end is told all the same
                    watched = _Watched(told.tell, nbytes)
            try:
                child = subprocess.Popen(
                    _words(arguments),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=watched.slave if watched is not None else errors,
                    start_new_session=True,  # the terminal's Ctrl-C is for this process alone
                )
            except OSError as error:
                raise Error(f"The command restride could not be started: {error}.", _FAILED) from None
            finally:
                if watched is not None:
                    watched.close_slave()
            pressed.watch(child)
            status = child.wait()
            output.seek(0)
            errors.seek(0)
            said = watched.text() if watched is not None else errors.read().decode("utf-8", "replace")
            answer = Answer(output.read().decode("utf-8", "replace"), status, said)
            if status == 0 and told.tell is not None:
                told.tell(nbytes, nbytes)
        if status == 0 and journal is not None:  # it says that the change is done, which the caller learns now
            with contextlib.suppress(FileNotFoundError):
                os.remove(journal)
    if told.failure is not None:
        raise told.failure
    if status != 0 and pressed.count > (0 if journal is not None else 1):
        raise Interrupted(_interrupted(path, journal))
    return answer, pressed.count > 0


def _interrupted(path: str, journal: Optional[str]) -> str:
    if journal is not None and os.path.exists(journal):
        return f"The change of {path} was interrupted; the same call goes on from {journal}."
    if journal is not None:
        return f"The change of {path} was interrupted before it began; nothing was changed."
    return f"The change of {path} was ended in the middle: it is between its two layouts and cannot be repaired."
