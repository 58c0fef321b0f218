"""Pictures that are converted, beside libvips alone."""
import json
import os
import threading
from pathlib import Path

from .. import comparison, media, payloads
from ..checking import Expected, WrongOutput
from ..programs import SOURCES
from ..result import Goal, Result
from ..variants import variant

NAME = "convert"
ABOUT = ("`--convert`: 1,000 different WebP of 100 KB (520 × 400), which become JPEG, and 200 different JPEG of 4,000 × 3,000, which are shrunk to "
         "2,048. *libvips* is a C program that calls libvips in one process for each processor; it reads the files from the disk, and neither fetches nor "
         "checks them. Then files that need no conversion, with and without the flag.")
_SIDE = 2_048


class ConvertedCheck:
    """attache's lines: the original and a member with a JPEG that is in the store."""

    def __init__(self, store):
        self.store = os.path.realpath(store)

    def line(self, number, line, expected):
        before = expected.raw[:-1]
        if not line.startswith(before + b',"attache":'):
            raise WrongOutput(f"line {number + 1}: is not the original with one member more: {line[-200:]}")
        attachment, = json.loads(b"{" + line[len(before) + 1:])["attache"]["attachments"]
        path = attachment["url"].removeprefix("file://")
        if attachment["mime"] != "image/jpeg" or not path.startswith(self.store + "/") or os.stat(path).st_size != attachment["size"]:
            raise WrongOutput(f"line {number + 1}: names {attachment}")

    def finish(self, count):
        pass


class _Converters:
    """The peak memory of a converter, in MB, while this is open."""

    def __enter__(self):
        self.peak, self._end = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _watch(self):
        while not self._end.wait(0.05):
            for process in filter(str.isdigit, os.listdir("/proc")):
                try:
                    if Path(f"/proc/{process}/comm").read_text() == "converter\n":
                        status = Path(f"/proc/{process}/status").read_text()
                        self.peak = max([self.peak] + [int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")])
                except OSError:
                    pass


def measure(bench):
    if not any(Path(folder, "libvips.so.42").exists() for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/lib64")):
        return Result(NAME, ABOUT, absent="there is no libvips")
    result = Result(NAME, ABOUT)
    label = bench.options.attaches[0][0]
    peaks = []
    for what, extension, count, size, codec in (
            ("WebP", "webp", 1_000, (520, 400), ("-c:v", "libwebp", "-quality", "85")), ("JPEG", "jpg", 200, (4_000, 3_000), ("-q:v", 5, "-update", 1))):
        lines, peer = _work(bench, extension, bench.count(count, 20), size, codec)
        work = bench.work(f"{NAME}-{extension}", lines, jobs=64)
        measures = {command.name: (lambda command=command: _attache(bench, command, work, peaks)) for command in _commands(bench)}
        runs = bench.in_turn(measures | {"libvips": lambda: _peer(bench, peer, work)})
        result.goals.append(Goal(f"{what}: payloads/s, × libvips", comparison.faster(runs, label, "libvips"), 0.85))
        result.head = comparison.head(runs)
        result.table += comparison.table(runs, f"{what}: ")
        result.notes += comparison.notes(bench, runs, f"{what}: ")
        result.runs[what] = runs
        bench.end_row()
    result.goals.append(Goal("memory of a converter", max(peaks), 128, at_least=False, unit=" MB"))
    without = bench.media_lines(bench.count(100_000, 100), "typical")
    plain, converting = bench.attaches(), bench.attaches("--convert")
    runs = bench.in_turn(
        {command.name + name: (lambda command=command, work=work: bench.run(command, work))
         for commands, name in ((plain, ""), (converting, " --convert")) for command in commands
         for work in (bench.work(f"{NAME}-none", without, jobs=64),)})
    result.goals.append(Goal("nothing to convert: payloads/s, × without the flag", comparison.faster(runs, f"{label} --convert", label), 0.97))
    result.table += comparison.table(runs, "nothing to convert: ")
    result.runs["nothing to convert"] = runs
    return result


def _commands(bench):
    commands = bench.attaches("--convert", "--deadline", "5m")
    return [type(command)(command.name, command.arguments, ConvertedCheck) for command in commands]


def _work(bench, extension, count, size, codec):
    """The lines, and the folder that has their files for the peer."""
    nginx = bench.nginx
    if bench.options.is_quick:
        base = (SOURCES.parent / f"Fixtures/media/photo.{extension}").read_bytes()
    else:
        base = media.picture(bench.scratch / "convert" / f"photo.{extension}", *size, *codec)
    bench._own_folder(count * len(base))
    for number in range(count):
        (nginx.own / f"{number}-photo.{extension}").write_bytes(variant(base, extension, number))
    return [Expected(payloads.payload(number, nginx.url(number, f"{number}-photo.{extension}", "own"))) for number in range(count)], nginx.own


def _attache(bench, command, work, peaks):
    with _Converters() as converters:
        run = bench.run(command, work)
    peaks.append(converters.peak)
    return run | {"converter_mb": converters.peak}


def _peer(bench, folder, work):
    out = bench.new_store(work)
    run = bench.cost("libvips", [bench.programs.convert(), _SIDE, os.cpu_count(), folder, out], work)
    found = len(os.listdir(out))
    if found != len(work.expected):
        raise WrongOutput(f"libvips: {found} files for {len(work.expected)} payloads")
    return run
