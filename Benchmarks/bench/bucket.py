"""A bucket on loopback, for the workers of a queue on a server in benchmarks and crash tests. It keeps its objects in memory, and checks no signature."""
import email.utils
import http.server
import threading


class Bucket:
    def __init__(self, folder):
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.objects, self._server.daemon_threads = {}, True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        credentials = folder / "aws.key"
        credentials.write_text("[default]\naws_access_key_id = key\naws_secret_access_key = secret\n")
        credentials.chmod(0o600)
        #: A worker's options.
        self.options = ("--upload", "s3://media/push", "--upload-credentials", credentials,
                        "--upload-endpoint", f"http://127.0.0.1:{self._server.server_address[1]}")

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        content = self.server.objects.get(self.path)
        self._answer(404 if content is None else 200, content or b"")

    do_HEAD = do_GET

    def do_PUT(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "x-amz-copy-source" not in self.headers:
            self.server.objects[self.path] = content
        self._answer(200, b"")

    def do_DELETE(self):
        self.server.objects.pop(self.path, None)
        self._answer(204, b"")

    def _answer(self, status, content):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Last-Modified", email.utils.formatdate(usegmt=True))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def handle(self):
        try:
            super().handle()
        except ConnectionError:  # the worker has gone
            pass

    def log_message(self, *words):
        pass
