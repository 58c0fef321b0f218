"""The origins: nginx with the media, and one that accepts and never answers. Both listen on loopback, on free ports."""
import contextlib
import json
import mmap
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import time
import urllib.request

from . import children


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def processor_seconds(pid):
    """The processor time of a process and its children, including those that have ended."""
    while True:
        before = _ticks(pid)
        running = sum(sum(_ticks(child)[:2]) for child in children.of(pid))
        after = _ticks(pid)
        if before[2:] == after[2:]:  # else a child has ended meanwhile, and was counted in neither place or in both
            return (sum(after) + running) / os.sysconf("SC_CLK_TCK")


def _ticks(pid):
    """The processor time of a process, as user and in the kernel, and the same of its children that have ended; zeros if it has gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return [int(field) for field in file.read().rsplit(")", 1)[1].split()[11:15]]
    except OSError:
        return [0, 0, 0, 0]


#: The hosts other than 127.0.0.1 that serve over TLS. Each is an origin.
TLS_HOSTS = [f"127.0.1.{number}" for number in range(1, 33)]
_CERTIFIED = ["127.0.0.1", *TLS_HOSTS]


class Nginx:
    """Serves a folder under any number of URLs; with TLS and HTTP/2 if openssl is installed."""

    def __init__(self, template, media, scratch, own):
        scratch.mkdir(parents=True, exist_ok=True)
        self.scratch, self.port, self.own = scratch, free_port(), own
        self.certificate = Certificate(scratch) if shutil.which("openssl") else None
        self.tls_port = free_port() if self.certificate else None
        tls = ""
        if self.certificate:
            tls = "".join(f"    listen {host}:{self.tls_port} ssl http2 backlog=4096;\n" for host in _CERTIFIED)
            tls += (f"    ssl_certificate {self.certificate.chain};\n"
                   f"    ssl_certificate_key {self.certificate.key};\n    ssl_session_cache shared:bench:4m;\n    http2_max_concurrent_streams 256;")
        text = template.read_text()
        values = {"USER": "user root;" if os.geteuid() == 0 else "", "SCRATCH": scratch, "OWN": own, "PORT": self.port, "TLS": tls, "MEDIA": media}
        for name, value in values.items():
            text = text.replace(f"@{name}@", str(value))
        (scratch / "nginx.conf").write_text(text)
        self.process = children.start(["nginx", "-e", scratch / "nginx.log", "-c", scratch / "nginx.conf"], orphaned=signal.SIGTERM)
        self._wait()

    def _wait(self):
        for _ in range(200):
            if self.process.poll() is not None:
                raise RuntimeError("nginx does not start: " + (self.scratch / "nginx.log").read_text()[-500:])
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/tiny.jpg", timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("nginx does not answer")

    def url(self, number, name, folder="media", tls=False, host="127.0.0.1"):
        scheme, port = ("https", self.tls_port) if tls else ("http", self.port)
        return f"{scheme}://{host}:{port}/{folder}/{number}/{name}"

    def warm(self, names):
        """Warms up the origin, so that the first run finds the files open, as later runs do."""
        for name in names:
            urllib.request.urlopen(self.url(0, name), timeout=5).read()

    def campaign_requests(self, key):
        """The number of requests for the media of one campaign, from the access log."""
        with open(self.scratch / "campaign.log") as log:
            return sum(line.startswith(f"/campaign/{key}/") for line in log)

    def processor_seconds(self):
        return processor_seconds(self.process.pid)

    def close(self):
        children.end(self.process)


class Certificate:
    """Our own root. It signs one certificate for all hosts of the origins."""

    def __init__(self, folder):
        self.root, self.chain, self.key = folder / "root.pem", folder / "chain.pem", folder / "key.pem"
        (folder / "names").write_text(f"subjectAltName={','.join(f'IP:{host}' for host in _CERTIFIED)}\nextendedKeyUsage=serverAuth\n")
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        openssl(folder, "req", "-x509", *key, "-keyout", "root.key", "-out", self.root, "-days", "30", "-subj", "/CN=benchmark root")
        openssl(folder, "req", *key, "-keyout", self.key, "-out", "request.pem", "-subj", "/CN=127.0.0.1")
        openssl(folder, "x509", "-req", "-in", "request.pem", "-CA", self.root, "-CAkey", "root.key", "-CAcreateserial", "-days", "30",
                "-extfile", "names", "-out", self.chain)
        ssl.create_default_context(cafile=self.root)


def openssl(folder, *arguments):
    said, status = children.run(["openssl", *arguments], cwd=folder)
    if status:
        raise RuntimeError(f"openssl: {said[-500:]}")


#: The device token whose requests nghttpd answers with 200.
TOKEN = "0f" * 32
#: The project of Firebase whose messages nghttpd answers with 200, and the access token that it gives.
PROJECT, ACCESS_TOKEN = "example-project", "0123456789" * 20


class Nghttpd:
    """Answers requests as the servers of Apple and Google do, over TLS and HTTP/2 and on one thread. Also makes a key that signs provider tokens and a
    service account's key, neither of which it checks."""

    def __init__(self, scratch):
        self.files, self.key, self.service_account = scratch / "files", scratch / "AuthKey.p8", scratch / "service-account.json"
        certificate = Certificate(scratch)
        self.root, self.port = certificate.root, free_port()
        self.authority = f"127.0.0.1:{self.port}"
        openssl(scratch, "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", self.key)
        self._write_service_account(scratch)
        self._write(f"3/device/{TOKEN}", "")
        self._write("token", json.dumps({"access_token": ACCESS_TOKEN, "expires_in": 3599, "token_type": "Bearer"}))
        self._write(f"v1/projects/{PROJECT}/messages:send", json.dumps({"name": f"projects/{PROJECT}/messages/1"}))
        self._start(certificate)

    def _write(self, path, answer):
        file = self.files / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(answer)

    def _write_service_account(self, scratch):
        openssl(scratch, "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "service-account.pem")
        key = (scratch / "service-account.pem").read_text()
        self.service_account.write_text(json.dumps({
            "type": "service_account", "project_id": PROJECT, "private_key_id": "0" * 40, "private_key": key,
            "client_email": f"sender@{PROJECT}.iam.gserviceaccount.com", "client_id": "1" * 21, "token_uri": f"https://{self.authority}/token"}))

    def _start(self, certificate):
        self.process = children.start(["nghttpd", "--address=127.0.0.1", f"--htdocs={self.files}", self.port, certificate.key, certificate.chain],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            time.sleep(0.02)
        self.close()
        raise RuntimeError("nghttpd does not start")

    def processor_seconds(self):
        return processor_seconds(self.process.pid)

    def close(self):
        children.end(self.process)


class Stalled:
    """Accepts and never answers, on many addresses (origins) and one port; under /cut/ it sends part of a picture."""

    def __init__(self, program, scratch, addresses=100):
        scratch.mkdir(parents=True, exist_ok=True)
        self.addresses = addresses
        self.process = children.start([program, scratch / "held", addresses], stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())
        with open(scratch / "held", "rb") as file:
            self._held = mmap.mmap(file.fileno(), 4, prot=mmap.PROT_READ)

    @property
    def held(self):
        """The number of requests that wait now."""
        return struct.unpack("I", self._held[:4])[0]

    def url(self, number, path="stall"):
        return f"http://127.0.0.{2 + number % self.addresses}:{self.port}/{path}/{number}/photo.jpg"

    def wait_for(self, count, time_limit=30):
        """Waits until this many requests are held."""
        end = time.monotonic() + time_limit
        while self.held != count:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.held} requests are held, not {count}")
            time.sleep(0.01)

    def close(self):
        children.end(self.process)
        self.process.stdout.close()
