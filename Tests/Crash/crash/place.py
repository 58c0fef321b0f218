"""What all queues of a crash test in PostgreSQL share: the payloads and what must come out, three servers, and the proxy before them."""
import contextlib
import json
import random
from dataclasses import dataclass
from pathlib import Path

from bench.bucket import Bucket
from postgresql.cluster import Cluster
from postgresql.proxying import Proxy
from postgresql.room import temporary_folder

from . import commits, payloads
from .origin import Origin
from .trial import Trial

_PHOTO = Path(__file__).resolve().parents[3] / "Fixtures/media/photo.jpg"


@dataclass
class Place:
    cluster: Cluster
    proxy: Proxy


@contextlib.contextmanager
def opened(is_synchronous=True):
    """
    - is_synchronous: whether a commit waits until a standby has it.

    Commits do not wait for the disk, but for a standby: nothing here fails that the kernel's cache does not outlive. A commit that waits for nothing stays in
    the server's memory for long, so that the death of a server takes it back.
    """
    with temporary_folder() as folder, contextlib.closing(Cluster(folder)) as cluster:
        settings = {"fsync": "off", "wal_writer_delay": "10s"}
        cluster.start(settings if is_synchronous else {**settings, "synchronous_standby_names": ""})
        with contextlib.closing(Proxy(cluster.servers)) as proxy:
            yield Place(cluster, proxy)


class SiegeWorld:
    """Payloads by their numbers, and the lines that an undisturbed run of a queue in SQLite gives them."""

    def __init__(self, attache, folder, count, seed):
        self.attache, self.store = attache, folder / "stores/store"
        media = folder / "media"
        payloads.write_media(media, _PHOTO, seed)
        self.origin, self.bucket = Origin(attache, media, folder / "origin.log"), Bucket(folder)
        made = payloads.made(count, seed, self.origin.url)
        payloads.write_busy(media, made)
        # A sender finds the number of a payload by its JSON.
        self.lines = [payload.line for payload in made if _is_object(payload.line)]
        self.payloads = {commits.number(line): line for line in self.lines}
        self.input = folder / "payloads.ndjson"
        self.input.write_bytes(b"".join(self.lines))
        text = Trial(self, folder / "queue", self.store, random.Random(0), 1, self.bucket.options).undisturbed()
        self.expected = {commits.number(line): line for line in text.splitlines(keepends=True)}

    def close(self):
        self.origin.close()
        self.bucket.close()


def _is_object(line):
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
