"""A run in which some payloads' pictures are converted, with the default flags."""
import json
import threading
import time
from pathlib import Path

from .. import media, payloads
from ..checking import AttacheCheck, Expected, WrongOutput
from ..conversation import Conversation
from ..figures import median, paired_ratio
from ..programs import SOURCES
from ..result import Goal, Result, amount
from ..variants import variant
from .convert import ConvertedCheck

NAME = "convert-run"
ABOUT = ("1,000 payloads with `--convert --deadline 5s`, of which 201 name a WebP of 4,000 × 3,000 each, all different; the others name 5 KB. The default "
         "flags are compared with `--jobs 8`, where no picture waits long. Then a producer writes 500 lines a second, of which one in 250 names such a "
         "picture, beside the same lines with 5 KB in its place: the time ends with the last line that names 5 KB (`--unordered`).")
_DEADLINE = ("--deadline", "5s")
#: Lines a second, and how often one of them needs a conversion.
_PACE, _EVERY = 500, 250


class _Check(AttacheCheck):
    """The lines of pictures are converted, or the original."""

    def __init__(self, store):
        super().__init__(store)
        self._converted = ConvertedCheck(store)

    def line(self, number, line, expected):
        if expected.medium is not None:
            super().line(number, line, expected)
        elif line != expected.raw:
            self._converted.line(number, line, expected)


def measure(bench):
    if not any(Path(folder, "libvips.so.42").exists() for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/lib64")):
        return Result(NAME, ABOUT, absent="there is no libvips")
    result = Result(NAME, ABOUT)
    commands = [type(command)(command.name, command.arguments, _Check)
                for command in bench.attaches("--convert", *_DEADLINE, "--report", bench.folder / "report")]
    label = commands[0].name
    lines = _lines(bench, bench.count(1_000, 50), lambda number: number % 5 == 0 or number == 1)
    pictures = sum(line.medium is None for line in lines)
    works = {"": bench.work(NAME, lines, jobs=256), " --jobs 8": bench.work(f"{NAME}-8", lines, jobs=8)}
    runs = bench.in_turn({command.name + flags: (lambda command=command, work=work: bench.run(command, work, lambda: _converted(bench, pictures)))
                          for command in commands for flags, work in works.items()})
    rates = {name: [run["rate"] for run in found] for name, found in runs.items()}
    result.goals += [Goal("converted pictures of the run, default flags", min(run["converted"] for run in runs[label]) * 100, 95, unit=" %"),
                     Goal("time, × `--jobs 8`", 1 / paired_ratio(rates[label], rates[f"{label} --jobs 8"]), 1.2, at_least=False)]
    result.runs["run"] = runs
    bench.end_row()
    count = bench.count(5_000, 300)
    plain, mixed = _lines(bench, count, lambda number: False), _lines(bench, count, lambda number: number % _EVERY == 0)
    measures = {}
    for command in bench.attaches("--convert", "--unordered", *_DEADLINE):
        measures[f"{command.name}, paced"] = lambda command=command: _paced(bench, command, mixed)
        measures[f"{command.name}, paced, nothing to convert"] = lambda command=command: _paced(bench, command, plain)
    paced = bench.in_turn(measures)
    rates = {name: [run["rate"] for run in found] for name, found in paced.items()}
    beside = paired_ratio(rates[f"{label}, paced"], rates[f"{label}, paced, nothing to convert"])
    result.goals.append(Goal("other lines/s beside conversions, × without", beside, 0.9))
    result.runs["paced"] = paced
    result.head = ["command", "payloads/s", "least converted"]
    result.table = [[name, amount(median(run["rate"] for run in found)), f"{min(run['converted'] for run in found) * 100:.0f} %"]
                    for name, found in (runs | paced).items()]
    bench.end_row()
    return result


def _lines(bench, count, is_picture):
    nginx = bench.nginx
    if bench.options.is_quick:
        base = (SOURCES.parent / "Fixtures/media/photo.webp").read_bytes()
    else:
        base = media.picture(bench.scratch / "convert" / "large.webp", 4_000, 3_000, "-c:v", "libwebp", "-quality", "85")
    plain = bench.media_lines(count, "tiny")
    bench._own_folder(len(base) * sum(is_picture(number) for number in range(count)))
    for number in filter(is_picture, range(count)):
        name = f"{number}-large.webp"
        (nginx.own / name).write_bytes(variant(base, "webp", number))
        plain[number] = Expected(payloads.payload(number, nginx.url(number, name, "own")))
    return plain


def _records(report):
    with open(report) as file:
        return [json.loads(line) for line in file]


def _converted(bench, pictures):
    records = _records(bench.folder / "report")
    late = sum(record["lateness_ms"] > 0 for record in records)
    if late:
        raise WrongOutput(f"{late} lines were late")
    return {"converted": sum("converted" in record["media"][0] for record in records) / pictures}


def _paced(bench, command, lines):
    """The rate of the lines with 5 KB, from a producer with a pace of its own."""
    plain = {line.raw[:-1] for line in lines if line.medium is not None}
    last, converted = 0.0, 0
    with Conversation(bench, command, bench.new_store(), jobs=256) as talk:
        begin = time.monotonic()
        feeder = threading.Thread(target=_feed, args=(talk, lines))
        feeder.start()
        for line in talk.lines():
            before, member, _ = line.partition(b',"attache":')
            if before in plain and member:
                last = time.monotonic()
            elif member:
                converted += 1
            elif before[:-1] in plain:
                raise WrongOutput(f"{command.name}: a line with 5 KB is not attached: {line[-200:]}")
        feeder.join()
        if talk.process.wait():
            raise WrongOutput(f"{command.name} ends with {talk.process.returncode}: {talk.errors()[-1]}")
    pictures = len(lines) - len(plain)
    return {"rate": len(plain) / (last - begin), "wall": last - begin, "converted": converted / pictures if pictures else 1}


def _feed(talk, lines):
    portion = _PACE // 20
    begin = time.monotonic()
    for turn, start in enumerate(range(0, len(lines), portion)):
        time.sleep(max(0, begin + turn / 20 - time.monotonic()))
        talk.write(lines[start:start + portion])
    talk.process.stdin.close()
