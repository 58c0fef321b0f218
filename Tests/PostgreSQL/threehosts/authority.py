"""A small certificate authority, by openssl(1)."""
import os
import subprocess
from pathlib import Path

from postgresql import programs


class Authority:
    def __init__(self, folder):
        self._folder = Path(folder)
        self.certificate, self._key = self._folder / "ca.pem", self._folder / "ca.key"
        _openssl("req", "-x509", *_new_key(self._key), "-days", "2", "-subj", "/CN=authority of the demonstration", "-out", self.certificate,
                 "-addext", "keyUsage=critical,keyCertSign")

    def issue(self, name):
        """A certificate for a host and its key, for the user of PostgreSQL's programs."""
        certificate, key, request = (self._folder / f"{name}.{kind}" for kind in ("pem", "key", "request"))
        _openssl("req", *_new_key(key), "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-out", request)
        _openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial", "-days", "2", "-copy_extensions", "copy",
                 "-out", certificate)
        os.chmod(key, 0o600)
        for path in (certificate, key):
            programs.give(path)
        return certificate, key


def _new_key(path):
    return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path]


def _openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
