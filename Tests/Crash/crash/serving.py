"""The endpoint of a crash test (endpoint.py): a process on one port, which is restarted there after each kill."""
import contextlib
import os
import socket
import subprocess
import sys
import time

from bench import children

#: How long to wait until a started endpoint has received anything, in seconds. Then it is killed anyway.
_PATIENCE = 3


class Serving:
    """
    - log: the file of the notes.
    - seconds: what a payload takes.
    """

    def __init__(self, log, seconds):
        self._log, self._seconds, self.starts = log, seconds, 0
        # This socket never listens. While no endpoint serves the port, connections are refused, and no other process can take it.
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
        """The name of the current process in the notes."""
        return f"e{self.starts}"

    def start(self):
        self.starts += 1
        self._since = self._log.stat().st_size
        self._process = children.start([sys.executable, "-m", "crash.endpoint", self._log, self.name, self._port.getsockname()[1], self._seconds],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    def wait_for_request(self):
        """Waits until the current process has received anything, or until the time limit."""
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
