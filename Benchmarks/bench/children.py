"""Processes that the benchmark starts: each is ended by its process id, and none outlives the benchmark, however it ends."""
import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

_libc = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def raise_file_limit():
    """Raises the limit on descriptors, since 10,000 transfers need 10,000 sockets."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def exit_on_signals():
    """Signals that ask this process to end unwind it once, so that everything is closed. Signals that were ignored at the start stay ignored."""
    def leave(number, _):
        for other in _ENDING:
            signal.signal(other, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in _ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, leave)


def start(command, orphaned=signal.SIGKILL, largest_file=None, **options):
    """A child that gets the signal `orphaned` when this process ends: SIGTERM for a child that ends its own children then. `largest_file` limits, in
    bytes, each file that it and its children write."""
    parent = os.getpid()

    def prepare():
        _libc.prctl(_PR_SET_PDEATHSIG, orphaned)
        if os.getppid() != parent:
            os._exit(1)
        if largest_file:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    return subprocess.Popen(list(map(str, command)), preexec_fn=prepare, **options)


def run(command, **options):
    """Runs a tool to its end. Returns its status and its output, including errors."""
    child = start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    try:
        return child.communicate()[0], child.returncode
    finally:
        end(child)


def of(pid):
    """The process ids of a process's children; none if it has gone."""
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, path.read_text().split())
    return found


def end(child):
    """Ends a child and waits for it."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
