"""Kills the fetchers of a filter repeatedly, and checks that no line is lost, changed or late. scripts/soak calls it."""
import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from bench import children
from bench.room import Room

ROOT = Path(__file__).resolve().parents[3]
_ROOM = 1 << 28
_SIGNALS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP)
_PAYLOAD = b'{"aps":{"alert":"Hello","mutable-content":1},"media-url":"http://127.0.0.1:%d/%d"}\n'


class SlowOrigin:
    """Serves one picture under every path, each answer after a delay."""

    def __init__(self, picture, delay):
        self._answer = b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(picture) + picture
        self._delay, self._loop, ready = delay, asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self._run, args=(ready,), daemon=True).start()
        ready.wait()

    def _run(self, ready):
        async def begin():
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()

        self._loop.create_task(begin())
        self._loop.run_forever()

    async def _serve(self, reader, writer):
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(self._delay)
                writer.write(self._answer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


class Run:
    """A filter that gets input until it is told to stop."""

    def __init__(self, attache, origin, folder):
        self._report = folder / "report"
        words = ["--store", folder / "store", "--allow-http", "--allow-net", "127.0.0.0/8", "--per-host", "64", "--deadline", "10s", "--cache", "off",
                 "--report", self._report]
        self._errors = open(folder / "errors", "wb")
        self.process = children.start([attache, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)
        self._origin, self._is_fed, self.lines = origin, True, []
        self.begin = time.monotonic()
        self._threads = [threading.Thread(target=self._feed), threading.Thread(target=self._read)]
        for thread in self._threads:
            thread.start()

    def _feed(self):
        number = 0
        while self._is_fed:
            self.process.stdin.write(_PAYLOAD % (self._origin.port, number))
            number += 1
        self.process.stdin.close()
        self.count = number

    def _read(self):
        self.lines = self.process.stdout.readlines()

    def fetchers(self):
        return [fetcher for parent in _children(self.process.pid) for fetcher in _children(parent)]

    def end(self):
        """Waits for the end. Returns the number of attached lines, and the lines per second."""
        self._is_fed = False
        for thread in self._threads:
            thread.join()
        status = self.process.wait()
        seconds = time.monotonic() - self.begin
        _check(status == 0, f"the filter ended with {status}")
        _check(len(self.lines) == self.count, f"{self.count} lines went in, {len(self.lines)} came out")
        attached = 0
        for number, line in enumerate(self.lines):
            original = _PAYLOAD % (self._origin.port, number)
            is_attached = line.startswith(original[:-2] + b',"attache":{"attachments":[{')
            _check(is_attached or line == original, f"line {number + 1} is neither the original nor its like with media: {line[:200]}")
            attached += is_attached
        records = [json.loads(line) for line in self._report.read_bytes().splitlines()]
        late = sum(record["lateness_ms"] > 0 for record in records)
        _check(not late, f"{late} lines were late")
        return attached, self.count / seconds


def _children(process):
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def _check(is_true, message):
    if not is_true:
        sys.exit(f"scripts/soak: {message}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak", description="Kills the fetchers of a filter repeatedly, and checks that no line is lost, changed or late.")
    parser.add_argument("kills", type=int, metavar="N", help="how many fetchers get SIGKILL, SIGSEGV or SIGSTOP")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the signals and their moments (1)")
    parser.add_argument("--pause", type=float, default=0.06, metavar="SECONDS", help="between two kills on average (0.06)")
    parser.add_argument("--delay", type=float, default=0.05, metavar="SECONDS", help="before the origin answers (0.05)")
    parser.add_argument("--attache", type=Path, required=True, metavar="PATH", help="the attache that is tested")
    chosen = parser.parse_args()
    children.exit_on_signals()
    draw = random.Random(chosen.seed)
    origin = SlowOrigin((ROOT / "Fixtures/media/photo.jpg").read_bytes(), chosen.delay)
    disk = ROOT / ".build/soak"
    disk.mkdir(parents=True, exist_ok=True)
    with Room(disk) as room:
        folder = room.folder(_ROOM)
        (folder / "quiet").mkdir()
        (folder / "killed").mkdir()
        quiet = Run(chosen.attache, origin, folder / "quiet")
        time.sleep(10)
        _, undisturbed = quiet.end()
        run, kills = Run(chosen.attache, origin, folder / "killed"), 0
        while kills < chosen.kills:
            time.sleep(draw.uniform(0, 2 * chosen.pause))
            fetchers = run.fetchers()
            if not fetchers:
                continue
            try:
                os.kill(draw.choice(fetchers), draw.choice(_SIGNALS))
                kills += 1
            except ProcessLookupError:
                pass
        attached, rate = run.end()
    share = attached / run.count
    print(f"{kills} kills over {run.count} payloads: none lost, changed or late; {share:.2%} attached; {rate:.0f} payloads/s, undisturbed {undisturbed:.0f}: {rate / undisturbed:.2f}")
    _check(share >= 0.99, "fewer than 99 % have their media")
    _check(rate >= 0.5 * undisturbed, "less than half as fast as undisturbed")


if __name__ == "__main__":
    main()
