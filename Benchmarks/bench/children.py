"""Processes that the benchmark starts: each is ended by its own number, whatever happens."""
import ctypes
import resource
import signal
import subprocess

_libc = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def raise_file_limit():
    """As many descriptors as this user may have: 10,000 transfers need as many sockets."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def start(command, **options):
    """A child that does not outlive this process, even if that is killed."""
    return subprocess.Popen(list(map(str, command)), preexec_fn=lambda: _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM), **options)


def end(child):
    """Ends a child and waits for it."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
