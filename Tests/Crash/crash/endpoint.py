"""An HTTP endpoint as users write them, which records what it receives and answers: the crash test lets `attache deliver --http` post to it, and
kills it.

    python3 -m crash.endpoint LOG NAME PORT SECONDS      SECONDS is the mean time that a payload takes

Once it listens, it writes a line to standard output. In its notes (deliveries.py) a sender is NAME/DELIVERER; a deliverer names itself in the field
`Deliverer`.
"""
import contextlib
import http.server
import random
import sys
import threading
import time

from .sender import Log, drawn, received

#: 422 is about one payload. 410 may be about all: when nothing else is left to send, such a payload is sent again.
_STATUSES = {"ok": 200, "retry": 503, "drop": 422}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # the deliverer has gone
            self.close_connection = True
            return
        log = self.server.log(self.headers["Deliverer"])
        (number, _), = received(log, [body], "each")
        self.server.work()
        answer = drawn()
        log.note(("answering", number, answer))
        self.send_response(_STATUSES[answer])
        self.send_header("Content-Length", "0")
        self.end_headers()
        log.note(("answered", number))

    def handle(self):
        with contextlib.suppress(ConnectionError):  # the deliverer has gone
            super().handle()

    def log_message(self, *words):
        pass


class _Endpoint(http.server.ThreadingHTTPServer):
    request_queue_size = 256

    def __init__(self, path, name, port, seconds):
        super().__init__(("127.0.0.1", port), _Handler)
        self._path, self._name, self._seconds = path, name, seconds
        self._logs, self._lock, self._turn = {}, threading.Lock(), threading.Lock()

    def log(self, deliverer):
        with self._lock:
            if deliverer not in self._logs:
                log = self._logs[deliverer] = Log(self._path, f"{self._name}/{deliverer}")
                log.note(("start", deliverer))
            return self._logs[deliverer]

    def work(self):
        """Handles one payload after the other, so that a deliverer's other payloads are unanswered meanwhile."""
        with self._turn:
            time.sleep(random.expovariate(1 / self._seconds))


def main():
    path, name, port, seconds = sys.argv[1:]
    endpoint = _Endpoint(path, name, int(port), float(seconds))
    print("listens", flush=True)
    endpoint.serve_forever()


if __name__ == "__main__":
    main()
