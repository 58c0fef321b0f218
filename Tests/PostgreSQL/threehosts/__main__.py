"""The demonstration; scripts/cluster-demo calls it in namespaces of its own."""
import argparse
import collections
import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

from bench import children
from postgresql import programs
from postgresql.cluster import Cluster
from postgresql.room import temporary_folder
from postgresql.server import Server
from serving.s3 import serving

from .authority import Authority
from .hosts import CENTER, connect

_HOME = Path(__file__).resolve().parents[3]
_ORIGIN, _CDN = 8080, 8081
_PICTURES = ("photo.jpg", "photo-grey.jpg", "picture.png", "animation.gif")
#: One of so many payloads names a picture.
_WITH_PICTURE = 3
#: In seconds: how long to enqueue, when the power fails, and how long everything may take.
_ENQUEUING, _FAILURE, _LIMIT = 25, 10, 80
_NGINX = """daemon off;
worker_processes 1;
error_log stderr error;
pid {folder}/pid;
events {{}}
http {{
  access_log off;
{temporary}
  server {{
    listen {origin};
    root {pictures};
  }}
  server {{
    listen {cdn};
    location / {{
      proxy_pass {bucket}/push/;
    }}
  }}
}}
"""


class Loss(Exception):
    """Something is lost, or takes too long."""


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/cluster-demo", description="Runs a queue on three hosts, one of which loses its power.")
    parser.add_argument("bin", type=Path)
    parser.add_argument("weed", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--payloads", type=int, default=3_000, metavar="N", help="how many payloads (3000)")
    return parser.parse_args()


class Demonstration:
    def __init__(self, chosen, hosts):
        self._attache, self._folder, self._count = chosen.bin.resolve() / "attache", chosen.folder, chosen.payloads
        self._weed, self._hosts, self._begin = chosen.weed, hosts, time.monotonic()
        self._sent = self._folder / "sent"
        self._sent.touch()
        self._logs, self._last = {}, "not all is enqueued"

    def say(self, text):
        print(f"{time.monotonic() - self._begin:5.1f} s  {text}", flush=True)

    # What is on the hosts

    @contextlib.contextmanager
    def database(self):
        """A primary with two standbys that everybody verifies. Replication and clients have passwords; only the superuser on a server's own host has none."""
        authority = Authority(self._folder)
        words = {"attache": secrets.token_hex(16), "replicator": secrets.token_hex(16)}
        own, servers = (self._password_file(name, words) for name in ("attache", "replicator"))
        programs.give(servers)
        verified = f"sslmode=verify-full sslrootcert={authority.certificate}"
        clients = ("host all postgres 127.0.0.1/32 trust\n"
                   "hostssl attache attache 10.20.0.0/24 scram-sha-256\n"
                   "hostssl replication replicator 10.20.0.0/24 scram-sha-256\n"
                   "hostssl postgres replicator 10.20.0.0/24 scram-sha-256\n")
        with temporary_folder() as folder:
            nodes = []
            for host in self._hosts:
                certificate, key = authority.issue(host.name)
                nodes.append(Server(folder, host.name, host.name, 5432, host.inside, {"ssl": "on", "ssl_cert_file": certificate, "ssl_key_file": key}))
            with contextlib.closing(Cluster(folder, nodes, f"user=replicator passfile={servers} {verified}", clients)) as cluster:
                cluster.start({"fsync": "off"}, [f"ALTER ROLE attache PASSWORD '{words['attache']}'",
                                                 f"CREATE ROLE replicator LOGIN REPLICATION PASSWORD '{words['replicator']}'"])
                names = ",".join(host.name for host in self._hosts)
                self._queue = f"postgresql://attache@{names}/attache?sslrootcert={authority.certificate}&passfile={own}"
                yield cluster

    def _password_file(self, name, words):
        path = self._folder / f"{name}.pgpass"
        path.write_text(f"*:*:*:{name}:{words[name]}\n")
        os.chmod(path, 0o600)
        return path

    @contextlib.contextmanager
    def nginx(self, bucket):
        """The origin of the pictures, and the CDN before the bucket."""
        folder = self._folder / "nginx"
        (folder / "pictures").mkdir(parents=True)
        for name in _PICTURES:
            shutil.copy(_HOME / "Fixtures/media" / name, folder / "pictures")
        shutil.chown(folder, "nobody")
        temporary = "".join(f"  {kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "conf").write_text(_NGINX.format(folder=folder, temporary=temporary, origin=_ORIGIN, cdn=_CDN, pictures=folder / "pictures", bucket=bucket))
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        child = children.start([program, "-e", "stderr", "-p", folder, "-c", folder / "conf"], user="nobody", group="nogroup", extra_groups=[])
        try:
            yield
        finally:
            children.end(child)

    def _command(self, host, name, *words, **options):
        errors = open(self._folder / f"{host.name}-{name}.log", "wb")
        child = host.start([self._attache, name, "--queue", self._queue, *words], stderr=errors, **options)
        self._logs[child] = errors
        child.label = f"attache {name} on {host.name}"
        return child

    def work(self, host, store):
        return self._command(host, "work", "--store", host.home / "store", "--upload", f"s3://{store['S3_BUCKET']}/push", "--upload-endpoint",
                             store["S3_ENDPOINT"], "--upload-credentials", store["S3_CREDENTIALS"], "--base-url", f"http://{CENTER}:{_CDN}/", "--allow-http",
                             "--allow-net", "10.20.0.0/24", "--deadline", "10s")

    def deliver(self, host):
        return self._command(host, "deliver", "--", sys.executable, "-IS", Path(__file__).with_name("sender.py"), host.name, self._sent)

    def enqueue(self, host):
        """Payloads at an even pace."""
        child = self._command(host, "enqueue", "--dedupe", "id", stdin=subprocess.PIPE)

        def feed():
            with contextlib.suppress(BrokenPipeError), child.stdin as pipe:
                for number in range(self._count):
                    push = {"aps": {"alert": f"Number {number}", "mutable-content": 1}, "id": number}
                    if number % _WITH_PICTURE == 0:
                        push["image"] = f"http://{CENTER}:{_ORIGIN}/{_PICTURES[number % len(_PICTURES)]}?{number}"
                    pipe.write(json.dumps(push).encode() + b"\n")
                    pipe.flush()
                    time.sleep(_ENQUEUING / self._count)

        threading.Thread(target=feed, daemon=True).start()
        return child

    # What it shows

    def counts(self, host):
        found = json.loads(host.run([self._attache, "queue", "--queue", self._queue, "--json"]))
        return found, f"{found['total']} enqueued, {found['decided']} with a result, {found['decided'] - found['unread']} delivered"

    def look(self, processes):
        for child in processes:
            if child.poll():
                raise Loss(f"{child.label} ends with {child.returncode}: {Path(self._logs[child].name).read_text()[-1500:]}")

    def show_logs(self):
        for path in sorted(self._folder.glob("*.log")):
            text = path.read_text(errors="replace").strip()
            if text:
                print(f"{path.stem}: {text[-500:]}", file=sys.stderr)

    def run(self):
        first, second, third = self._hosts
        with self.database() as cluster, serving(self._weed, "10.20.0.1") as store, self.nginx(f"{store['S3_ENDPOINT']}/{store['S3_BUCKET']}"):
            self.say(f"{first.name} is the primary, {second.name} and {third.name} are its synchronous standbys; a bucket, an origin and a CDN on {CENTER}")
            enqueuer = self.enqueue(third)
            self._wait_for(lambda: cluster.sql("SELECT to_regclass('attache_main.payload') IS NOT NULL") == [["t"]], 10, "the queue")
            workers = [self.work(first, store), self.work(second, store)]
            deliverers = [self.deliver(second), self.deliver(third)]
            self.say(f"attache enqueue on {third.name}, work on {first.name} and {second.name}, deliver on {second.name} and {third.name}")
            time.sleep(_FAILURE)
            self.look([enqueuer, *workers, *deliverers])
            self.say(f"before: {self.counts(third)[1]}")

            begin = time.monotonic()
            first.take_power()
            workers[0].wait()
            cluster.fail_over()
            self.say(f"{first.name} has lost its power: no database, no worker and no network there; "
                     f"{cluster.primary.name}, which had more of the log, is the primary {time.monotonic() - begin:.1f} s later")
            sent = self._sent.stat().st_size
            self._wait_for(lambda: self._sent.stat().st_size > sent, 40, "the next delivery")
            self.say(f"the next delivery comes {time.monotonic() - begin:.1f} s after the power failed")
            living = [enqueuer, workers[1], *deliverers]
            self._wait_for(lambda: self.look(living) or self._is_done(enqueuer, third), _LIMIT, "the end")
            self.say(f"after: {self.counts(third)[1]}")
            for child in living[1:]:
                child.terminate()
            for child in living[1:]:
                if child.wait(30) not in (0, 75):
                    raise Loss(f"{child.label} ends with {child.returncode}")
            self.check(third)

    def _is_done(self, enqueuer, host):
        if enqueuer.poll() is None:
            return False
        found = self.counts(host)[0]
        self._last = f"the queue says {found}"
        return not found["undecided"] and not found["unread"]

    def _wait_for(self, is_true, seconds, what):
        end = min(time.monotonic() + seconds, self._begin + _LIMIT)
        while not is_true():
            if time.monotonic() > end:
                raise Loss(f"{what} does not come; {self._last}")
            time.sleep(0.2)

    def check(self, host):
        rows = [line.split() for line in self._sent.read_text().splitlines()]
        times = collections.Counter(int(number) for number, _, _ in rows)
        if missing := sorted(set(range(self._count)) - set(times)):
            raise Loss(f"{len(missing)} payloads were never sent: {missing[:10]}")
        bare = [number for number, _, url in rows if int(number) % _WITH_PICTURE == 0 and not url.startswith(f"http://{CENTER}:{_CDN}/")]
        if bare:
            raise Loss(f"{len(bare)} payloads lack their picture: {bare[:10]}")
        urls = sorted({url for _, _, url in rows} - {"-"})
        with host.inside():
            for url in urls:
                with urllib.request.urlopen(url, timeout=10) as answer:
                    answer.read()
        by_host = collections.Counter(name for _, name, _ in rows)
        twice = sum(count > 1 for count in times.values())
        self.say(f"{len(times)} payloads were sent ({', '.join(f'{count} by {name}' for name, count in sorted(by_host.items()))}), {twice} of them more than once; "
                 f"all {sum(number % _WITH_PICTURE == 0 for number in times)} pictures are there, as {len(urls)} files of the CDN")
        self.say("nothing is lost")


def main():
    chosen = arguments()
    children.exit_on_signals()
    demonstration = Demonstration(chosen, connect(["db1", "db2", "db3"], chosen.folder))
    try:
        demonstration.run()
    except (Loss, programs.Unavailable, RuntimeError) as failure:
        print(f"scripts/cluster-demo: {failure}", file=sys.stderr)
        demonstration.show_logs()
        return 1
    return 0


sys.exit(main())
