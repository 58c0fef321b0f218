"""Hosts that are network namespaces, connected by a bridge. Only for a process in mount, network and process namespaces of its own, which end with it."""
import contextlib
import ctypes
import os
import signal
import subprocess
import uuid
from pathlib import Path

from bench import children

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_NETWORK = "10.20.0"
#: The place of the bridge itself: of what is on none of the hosts.
CENTER = "media.example"
#: Gives a process the name and the identifier of its host, by which attache tells machines apart.
_IDENTITY = 'hostname "$1"; if [ -e /etc/machine-id ]; then mount --bind "$2" /etc/machine-id; fi; shift 2; exec "$@"'


def _ip(*words):
    text, status = children.run(["ip", *words])
    if status:
        raise RuntimeError(f"ip {' '.join(words)}: {text.strip()}")
    return text


def connect(names, folder):
    """Makes the bridge and the hosts. All of them know each other by their names."""
    children.run(["mount", "-t", "tmpfs", "tmpfs", "/run"])  # where ip(8) keeps the names of network namespaces
    addresses = {CENTER: f"{_NETWORK}.1", **{name: f"{_NETWORK}.{11 + place}" for place, name in enumerate(names)}}
    table = Path(folder) / "hosts"
    table.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in addresses.items()))
    text, status = children.run(["mount", "--bind", table, "/etc/hosts"])
    if status:
        raise RuntimeError(text)
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "bridge", "type", "bridge")
    _ip("address", "add", f"{addresses[CENTER]}/24", "dev", "bridge")
    _ip("link", "set", "bridge", "up")
    return [Host(name, addresses[name], Path(folder)) for name in names]


class Host:
    def __init__(self, name, address, folder):
        self.name, self.address = name, address
        self.home = folder / name
        self.home.mkdir()
        self._identifier = self.home / "machine-id"
        self._identifier.write_text(f"{uuid.uuid4().hex}\n")
        _ip("netns", "add", name)
        self._namespace = os.open(f"/run/netns/{name}", os.O_RDONLY | os.O_CLOEXEC)
        _ip("link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", f"to-{name}", "master", "bridge", "up")
        with self.inside():
            _ip("link", "set", "lo", "up")
            _ip("address", "add", f"{address}/24", "dev", "eth0")
            _ip("link", "set", "eth0", "up")

    @contextlib.contextmanager
    def inside(self):
        """Sockets and processes that this thread makes meanwhile are the host's."""
        with open("/proc/thread-self/ns/net") as own:
            _enter(self._namespace)
            try:
                yield
            finally:
                _enter(own.fileno())

    def start(self, command, **options):
        words = ["unshare", "--mount", "--uts", "--propagation", "private", "sh", "-euc", _IDENTITY, "sh", self.name, self._identifier, *command]
        with self.inside():
            return children.start(words, **{"stdin": subprocess.DEVNULL, "env": {**os.environ, "HOME": str(self.home)}, **options})

    def run(self, command):
        """The standard output of a command that must succeed."""
        with self.start(command, stdout=subprocess.PIPE) as child:
            output = child.communicate()[0]
        if child.returncode:
            raise RuntimeError(f"{command[0]} on {self.name} ends with {child.returncode}")
        return output

    def take_power(self):
        """The cable is dead before the processes: nobody hears of their end."""
        _ip("link", "set", f"to-{self.name}", "down")
        for _ in range(3):  # those that were started meanwhile
            for number in _ip("netns", "pids", self.name).split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(number), signal.SIGKILL)


def _enter(descriptor):
    if _libc.setns(descriptor, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
