"""A queue that is filled and processed, compared with a plain loop over SQLite."""
import contextlib
import shutil
import sqlite3
import tempfile
from pathlib import Path

from .. import payloads
from ..checking import AttacheCheck, Expected, WrongOutput, check
from ..comparison import costs, dearer, faster, memory, notes, rates
from ..figures import median
from ..result import Goal, Result, amount
from ..work import Generated

NAME = "queue"
ABOUT = ("100,000 payloads of 1 KB are enqueued and processed, without media and with one URL, a JPEG of 5 KB that stays fresh for an hour, 256 in "
         "flight. A loop in C makes only the same transactions on the same tables, with the same synchronous setting. The queue is on disk. Memory "
         "is VmHWM of `attache work`.")
LOOP = "the SQLite loop"
_JOBS = 256
#: About as long as the member that attache inserts.
_MEMBER = ',"attache":{"attachments":[{"url":"file:///' + "x" * 140 + '","type":"public.jpeg","mime":"image/jpeg","size":5120,"sha256":"' + "0" * 64 + '"}]}'


def measure(bench):
    absent = bench.lacks_tools()
    if absent:
        return Result(NAME, ABOUT, absent=absent)
    count = bench.count(100_000, 1_000)
    url, medium = bench.nginx.url("queue", "tiny.jpg", folder="campaign"), bench.media["tiny.jpg"]
    result = Result(NAME, ABOUT, head=["what", "payloads/s", f"× {LOOP}", "CPU µs per payload", f"CPU × {LOOP}", "resident MB"])
    none = bench.work(f"{NAME}-none", Generated(count, lambda number: Expected(payloads.passing(number))), jobs=_JOBS)
    _add(bench, result, "without media", none, _both(bench, none, None))
    bench.end_row()
    one = bench.work(f"{NAME}-url", Generated(count, lambda number: Expected(payloads.payload(number, url), medium)), jobs=_JOBS, is_stored_once=True)
    _add(bench, result, "one URL", one, _both(bench, one, _MEMBER))
    bench.end_row()
    many = bench.work(f"{NAME}-many", Generated(10 * count, lambda number: Expected(payloads.passing(number))), jobs=_JOBS)
    _add_memory(result, count, _ours(bench, bench.attaches()[0], many)["work"])
    return result


def _both(bench, work, member):
    """The measures of a round, by name."""
    ours = {command.name: (lambda command=command: _ours(bench, command, work)) for command in bench.attaches()}
    return ours | {LOOP: lambda: _loop(bench, work, member)}


def _add(bench, result, what, work, measures):
    found = bench.in_turn(measures)
    for step, verb in (("enqueue", "enqueued"), ("work", "worked")):
        runs = {name: [run[step] for run in rounds] for name, rounds in found.items()}
        for name in runs:
            ratios = [amount(ratio(runs, name, LOOP)) if LOOP in runs else "" for ratio in (faster, dearer)]
            result.table.append([f"{what}, {verb}: {name}", f"{median(rates(runs, name)):,.0f}", ratios[0], amount(median(costs(runs, name)) * 1e6), ratios[1],
                                 amount(memory(runs, name))])
        result.runs[f"{what}, {verb}"] = runs
        if step == "work" and LOOP in runs:
            result.goals.append(Goal(f"{what}: results/s, × {LOOP}", faster(runs, bench.attaches()[0].name, LOOP), 0.7))
        result.notes += notes(bench, runs, f"{what}, {verb}: ")


def _add_memory(result, count, large):
    ours = next(iter(result.runs["without media, worked"]))
    small, large = memory(result.runs["without media, worked"], ours), large["peak_kb"] / 1024
    result.goals += [Goal(f"memory over {10 * count:,} payloads", large, 64, at_least=False, unit=" MB"),
                     Goal(f"the same, × over {count:,}", large / small, 1.1, at_least=False)]
    result.table.append([f"without media, worked, {10 * count:,} payloads: {ours}", "", "", "", "", amount(large)])


@contextlib.contextmanager
def queue_folder(bench, work):
    folder = Path(tempfile.mkdtemp(prefix="queue.", dir=bench.room.on_disk(4 * work.volume.all)))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def largest(work):
    """The maximum size of a database: the original lines, the results, and the log."""
    return 2 * work.volume.all + (256 << 20)


def _ours(bench, command, work):
    store, limit = bench.new_store(), largest(work)
    attache, *flags = command.arguments(store, work.jobs, work.cacert)
    with queue_folder(bench, work) as folder:
        queue = ["--queue", f"sqlite:{folder / 'queue'}"]
        found = {"enqueue": bench.cost(f"{command.name} enqueue", [attache, "enqueue", *queue], work, largest=limit),
                 "work": bench.cost(f"{command.name} work", [attache, "work", *queue, "--once", *flags], work, largest=limit)}
        bench.cost(f"{command.name} results", [attache, "results", *queue], work, folder / "results")
        with open(folder / "results", "rb") as output:
            check(output, work.expected, AttacheCheck(store))
        return found


def _loop(bench, work, member):
    bench.new_store()
    program = bench.programs.queue_loop()
    with queue_folder(bench, work) as folder:
        path = folder / "queue"
        found = {"enqueue": bench.cost(LOOP, [program, "enqueue", path], work, largest=largest(work)),
                 "work": bench.cost(LOOP, [program, "work", path, *([member] if member else [])], work, largest=largest(work))}
        with contextlib.closing(sqlite3.connect(path)) as database:
            count = database.execute("SELECT count(*) FROM result JOIN output USING (id) WHERE (line IS NOT NULL) = ?", [bool(member)]).fetchone()[0]
        if count != len(work.expected):
            raise WrongOutput(f"{LOOP}: {count} results for {len(work.expected)} payloads")
        return found
