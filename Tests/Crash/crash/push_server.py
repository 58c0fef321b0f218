"""The push service of a crash test: `attache origin`, which is started again on the same port and with the same keys after each kill."""
import os
import socket
import subprocess
import time

from bench import children

from .commands import Failure

#: How long to wait for a request, in seconds. Then the service is killed anyway.
_PATIENCE = 3
_FLAGS = "attache origin: flags: "


class PushServer:
    """
    - service: apns or fcm.
    - log: the file of the notes. The service's own log goes there as well.
    """

    def __init__(self, attache, service, keys, log):
        self._attache, self._service, self._keys, self._log = attache, service, keys, log
        # This socket never listens. While no service has the port, connections are refused, and no other process can take it.
        self._port = socket.socket()
        self._port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._port.bind(("127.0.0.1", 0))
        self.start()
        lines = log.read_text().splitlines()
        self.flags = next(line for line in lines if line.startswith(_FLAGS)).removeprefix(_FLAGS).split()

    @property
    def port(self):
        return self._port.getsockname()[1]

    def start(self):
        with open(self._log, "ab") as log:
            self._process = children.start([self._attache, "origin", f"--{self._service}", "--log", "--keys", self._keys, "--port", self.port],
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        if not self._process.stdout.readline():
            raise Failure(f"attache origin does not start: {self._log.read_text()[-800:]}")

    def wait_for_request(self):
        """Waits until a request is handled, or until the time limit."""
        end = time.monotonic() + _PATIENCE
        with open(self._log, "rb") as log:
            log.seek(0, os.SEEK_END)
            while b" POST /" not in log.read() and time.monotonic() < end:
                time.sleep(0.001)

    def kill(self):
        """
        - Returns: whether it was alive.
        """
        is_alive = self._process.poll() is None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        return is_alive

    def close(self):
        self.kill()
        self._port.close()
