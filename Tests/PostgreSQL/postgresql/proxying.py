"""The proxy (proxy.py) as a process of this one."""
import json
import os
import select
import subprocess
import sys
import time

from bench import children


class Proxy:
    """
    - servers: whose addresses and ports it serves, one port for each.
    """

    def __init__(self, servers):
        places = [f"{server.address}:{server.port}" for server in servers]
        self._process = children.start([sys.executable, "-B", "-m", "postgresql.proxy", *places], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._text = b""
        self.ports = (self._hear(10) or {}).get("ports")
        if not self.ports:
            raise RuntimeError("the proxy does not start")

    def arm(self, place, round_, is_reset):
        """Cuts a connection ("before", "within" or "after" the server has the round, see proxy.py) at the given round from now on."""
        self._tell(cut=place, round=round_, reset=is_reset)

    def has_cut(self, seconds):
        """Waits until the armed cut has happened; else withdraws it.

        - Returns: whether it has happened.
        """
        if self._hear(seconds):
            return True
        self._tell(cut=None)
        return self._hear(10)["cut"] is not None

    def black(self, seconds, wait=True):
        """Nothing passes for this time."""
        self._tell(black=seconds)
        if wait:
            self._hear(seconds + 10)

    def drop(self):
        """Resets all connections."""
        self._tell(drop=True)
        self._hear(10)

    def _tell(self, **command):
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        self._process.stdin.flush()

    def _hear(self, seconds):
        """The next line; None if none comes in time."""
        end = time.monotonic() + seconds
        while b"\n" not in self._text:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                return None
            data = os.read(self._process.stdout.fileno(), 65536)
            if not data:
                raise RuntimeError(f"the proxy ended with {self._process.wait()}")
            self._text += data
        line, _, self._text = self._text.partition(b"\n")
        return json.loads(line)

    def close(self):
        self._process.stdin.close()
        children.end(self._process)
        self._process.stdout.close()
