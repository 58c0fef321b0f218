"""Results that are sent to a sender, compared with a plain loop over SQLite."""
import contextlib
import sqlite3

from .. import payloads
from ..checking import Expected, WrongOutput
from ..comparison import costs, dearer, faster, memory, notes, rates
from ..figures import median
from ..result import Goal, Result, amount
from ..work import Generated
from .queue import LOOP, largest, queue_folder

NAME = "deliver"
ABOUT = ("100,000 results of 1 KB, without media, go to a C program that keeps each line, as cat would, and answers ok. At most 64 are unanswered. A"
         " loop in C makes the same transactions on the same tables, with the same program. The queue is on disk. Memory is the sum of the deliverer"
         " and the program.")
_MODES = {"lines": [], "--envelope": ["--envelope"]}


def measure(bench):
    absent = bench.lacks_tools()
    if absent:
        return Result(NAME, ABOUT, absent=absent)
    result = Result(NAME, ABOUT, head=["what", "results/s", f"× {LOOP}", "CPU µs per result", f"CPU × {LOOP}", "resident MB"])
    work = bench.work(NAME, Generated(bench.count(100_000, 1_000), lambda number: Expected(payloads.passing(number))), jobs=256)
    measures = {f"{command.name}, {mode}": (lambda command=command, mode=mode: _ours(bench, command, work, mode))
                for command in bench.attaches() for mode in _MODES}
    runs = bench.in_turn(measures | {LOOP: lambda: _loop(bench, work)})
    for name in runs:
        ratios = [amount(ratio(runs, name, LOOP)) for ratio in (faster, dearer)]
        result.table.append([name, f"{median(rates(runs, name)):,.0f}", ratios[0], amount(median(costs(runs, name)) * 1e6), ratios[1], amount(memory(runs, name))])
    ours = next(iter(measures))
    result.runs["deliver"] = runs
    result.goals += [Goal("results/s", median(rates(runs, ours)), 40_000), Goal("memory", memory(runs, ours), 40, at_least=False, unit=" MB")]
    result.notes += notes(bench, runs, "")
    bench.end_row()
    return result


def _ours(bench, command, work, mode):
    store, limit = bench.new_store(), largest(work)
    attache, *flags = command.arguments(store, work.jobs, work.cacert)
    with queue_folder(bench, work) as folder:
        queue, sent = ["--queue", f"sqlite:{folder / 'queue'}"], folder / "sent"
        bench.cost(f"{command.name} enqueue", [attache, "enqueue", *queue], work, largest=limit)
        bench.cost(f"{command.name} work", [attache, "work", *queue, "--once", *flags], work, largest=limit)
        sender = [bench.programs.ok_sender(), sent, *(["envelope"] if _MODES[mode] else [])]
        found = bench.cost(f"{command.name} deliver", [attache, "deliver", *queue, "--once", *_MODES[mode], "--", *sender], work, largest=limit)
        _check(command.name, folder / "queue", sent, work, is_envelope=bool(_MODES[mode]))
        return found


def _loop(bench, work):
    bench.new_store()
    program = bench.programs.queue_loop()
    with queue_folder(bench, work) as folder:
        path, sent = folder / "queue", folder / "sent"
        for step in ("enqueue", "work"):
            bench.cost(LOOP, [program, step, path], work, largest=largest(work))
        found = bench.cost(LOOP, [program, "deliver", path, bench.programs.ok_sender(), sent], work, largest=largest(work))
        _check(LOOP, path, sent, work)
        return found


def _check(name, database, sent, work, is_envelope=False):
    """Checks that each line was sent once, in any order, and that the queue recorded it."""
    wanted, came = sorted(hash(line.raw) for line in work.expected), []
    with open(sent, "rb") as lines:
        for line in lines:
            line = line.rstrip(b"\n")
            came.append(hash(line[line.index(b'"payload":') + len(b'"payload":'):-1] if is_envelope else line))
    if sorted(came) != wanted:
        raise WrongOutput(f"{name}: {len(came)} lines were sent for {len(wanted)} results, or others")
    with contextlib.closing(sqlite3.connect(database)) as connection:
        left, = connection.execute("SELECT (SELECT count(*) FROM delivery) + (SELECT count(*) FROM result WHERE status IS NOT 'delivered')").fetchone()
    if left:
        raise WrongOutput(f"{name}: {left} results are not delivered when all is over")
