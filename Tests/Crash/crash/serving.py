"""The endpoint of a crash test (endpoint.py): a process at one port, which is started again there each time it was killed."""
import contextlib
import os
import socket
import subprocess
import sys
import time

from bench import children

#: How long an endpoint that was started is waited for until it has received anything, in seconds; then it is killed all the same.
_PATIENCE = 3


class Serving:
    """
    - log: the file of the notes.
    - seconds: what a payload takes.
    """

    def __init__(self, log, seconds):
        self._log, self._seconds, self.starts = log, seconds, 0
        # It never listens: while nobody serves the port, connections are refused, and nobody else gets it.
        self._port = socket.socket()
        self._port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._port.bind(("127.0.0.1", 0))
        self.start()
        if not self._process.stdout.readline():
            raise RuntimeError("the endpoint does not start")

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port.getsockname()[1]}/"

    @property
    def name(self):
        """What the notes call the process of now."""
        return f"e{self.starts}"

    def start(self):
        self.starts += 1
        self._since = self._log.stat().st_size
        self._process = children.start([sys.executable, "-m", "crash.endpoint", self._log, self.name, self._port.getsockname()[1], self._seconds],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    def wait_for_request(self):
        """Until the process of now has received anything, or the time is over."""
        end, wanted = time.monotonic() + _PATIENCE, f"received {self.name}/".encode()
        with open(self._log, "rb") as log:
            log.seek(self._since)
            notes = b""
            while wanted not in notes and time.monotonic() < end:
                time.sleep(0.005)
                notes = notes[-len(wanted):] + log.read()

    def kill(self):
        """
        - Returns: whether it was alive.
        """
        is_alive = self._process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, 9)
        self._process.wait()
        self._process.stdout.close()
        return is_alive

    def close(self):
        self.kill()
        self._port.close()
