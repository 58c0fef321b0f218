"""`attache origin` with a log of every request."""
import collections
import re
import subprocess

from bench import children

_REQUEST = re.compile(r"attache origin: GET (\S+) HTTP/")


class Origin:
    def __init__(self, attache, folder, log):
        self._log = log
        with open(log, "wb") as errors:
            self._process = children.start([attache, "origin", folder, "--log"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
        self.url = self._process.stdout.readline().decode().strip().rstrip("/")
        if not self.url:
            raise RuntimeError(f"the origin does not start: {log.read_text()}")

    def requests(self, since=0):
        """The number of requests for each target since this position in the log, in bytes."""
        with open(self._log, encoding="utf-8", errors="replace") as log:
            log.seek(since)
            return collections.Counter(_REQUEST.findall(log.read()))

    @property
    def position(self):
        return self._log.stat().st_size

    def close(self):
        children.end(self._process)
