"""attache and its peers: how each is built and called."""
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import children
from .checking import AttacheCheck, HashedNames, PeerCheck, UncheckedTypes

SOURCES = Path(__file__).resolve().parent.parent
PEERS = ["limit", "sharded", "transfers", "go", "shell", "aiohttp"]
#: The programs that each needs on PATH.
_NEEDS = {"limit": ["gcc"], "sharded": ["gcc"], "transfers": ["gcc"], "go": ["go", "gcc"], "shell": ["jq", "curl", "file"], "aiohttp": ["python3"]}
#: Options of the limit that turn it into another peer.
_MODES = {"limit": [], "sharded": ["--shards", 2, "--database", SOURCES / "peers/media.magic"], "transfers": ["--transfers"]}
#: The checks of peers for which ``PeerCheck`` does not fit.
_CHECKS = {"sharded": HashedNames, "transfers": UncheckedTypes}


@dataclass(frozen=True)
class Command:
    """One program of a comparison."""
    name: str
    arguments: object  # of (store, jobs, cacert): the words of the command
    checker: object = PeerCheck


class Programs:
    """Builds the programs that are missing in a folder or older than their source."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def missing(self, peer):
        """Why a peer cannot run, or None."""
        absent = [tool for tool in _NEEDS[peer] if not shutil.which(tool)]
        return f"{peer} needs {', '.join(absent)}" if absent else None

    def _is_newer(self, path, sources):
        return path.exists() and all(source.stat().st_mtime <= path.stat().st_mtime for source in sources)

    def compiled(self, source, *libraries):
        path = self.folder / source.stem
        if not self._is_newer(path, [source]):
            _quietly("gcc", "-O2", "-Wall", "-Wextra", "-o", path, source, *libraries)
        return path

    def launch(self):
        return self.compiled(SOURCES / "tools/launch.c", "-static")

    def stall(self):
        return self.compiled(SOURCES / "origin/stall.c")

    def unconfined(self):
        return self.compiled(SOURCES / "tools/unconfined.c", "-shared", "-fPIC")

    def empty(self, program):
        """A C program that does nothing, linked with the libraries of the system that `program` is linked with."""
        source = self.folder / "empty.c"
        source.write_text("int main(void) { return 0; }\n")
        dynamic = subprocess.run(["readelf", "-d", program], stdout=subprocess.PIPE, text=True, check=True).stdout
        needed = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) if not name.startswith(("ld-", "libswift", "libFoundation"))]
        path = self.folder / "empty"
        _quietly("gcc", "-O2", "-o", path, source, "-Wl,--no-as-needed", *[f"-l:{name}" for name in needed])
        return path

    def limit(self):
        return self.compiled(SOURCES / "peers/limit.c", "-lcurl", "-lmagic", "-lcjson", "-lcrypto")

    def convert(self):
        return self.compiled(SOURCES / "peers/convert.c", "-l:libvips.so.42", "-l:libgobject-2.0.so.0", "-l:libglib-2.0.so.0")

    def upload(self):
        return self.compiled(SOURCES / "peers/upload.c", "-lcurl", "-lcrypto")

    def fcm_loop(self):
        return self.compiled(SOURCES / "peers/fcm_loop.c", "-lcurl")

    def queue_loop(self):
        return self.compiled(SOURCES / "peers/queue_loop.c", "-lsqlite3")

    def postgresql_loop(self):
        flags, _ = children.run(["pkg-config", "--cflags", "--libs", "libpq"])
        return self.compiled(SOURCES / "peers/postgresql_loop.c", *flags.split())

    def ok_sender(self):
        return self.compiled(SOURCES / "tools/ok_sender.c")

    def go(self):
        path, sources = self.folder / "go-peer", SOURCES / "peers/go"
        if not self._is_newer(path, list(sources.iterdir())):
            _quietly("go", "build", "-o", path, ".", cwd=sources, env={**os.environ, "GOPROXY": "off", "GOCACHE": str(self.folder / "go-cache")})
        return path

    def python(self):
        environment = self.folder / "venv"
        if not (environment / "ready").exists():
            _quietly("python3", "-m", "venv", environment)
            _quietly(environment / "bin/pip", "install", "--quiet", "aiohttp", "python-magic")
            (environment / "ready").touch()
        return environment / "bin/python"

    def peer(self, name):
        """The command of a peer, built."""
        if name in _MODES:
            program, mode = self.limit(), _MODES[name]
            return Command(name, lambda store, jobs, cacert: [program, "--store", store, "--jobs", jobs, *mode, *(["--cacert", cacert] if cacert else [])],
                           _CHECKS.get(name, PeerCheck))
        if name == "go":
            program = self.go()
            return Command(name, lambda store, jobs, _: [program, "-store", store, "-jobs", jobs])
        words = [SOURCES / "peers/shell"] if name == "shell" else [self.python(), SOURCES / "peers/asyncio_filter.py"]
        return Command(name, lambda store, jobs, _: [*words, "--store", store, "--jobs", jobs])


def attache(label, path, *extra, network="127.0.0.0/8"):
    """attache as a filter that may contact loopback, or a part of it."""
    def arguments(store, jobs, cacert):
        return [path, "--allow-http", "--allow-net", network, "--store", store, "--jobs", jobs, "--per-host", jobs,
                *(["--cacert", cacert] if cacert else []), *extra]
    return Command(label, arguments, AttacheCheck)


def _quietly(*command, **options):
    said, status = children.run(command, **options)
    if status:
        raise RuntimeError(f"{' '.join(map(str, command))}: {said[-2000:]}")
