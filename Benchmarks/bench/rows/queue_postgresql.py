"""A queue in PostgreSQL, compared with a plain loop over libpq and with the queue in SQLite."""
import os
import signal

from .. import children, database, payloads
from ..checking import AttacheCheck, Expected, WrongOutput, check
from ..comparison import costs, dearer, faster, memory, notes, rates
from ..figures import median, paired_ratio
from ..result import Goal, Result, amount
from ..work import Generated
from .queue import largest, queue_folder

NAME = "queue-postgresql"
ABOUT = ("100,000 payloads of 1 KB without media are enqueued and processed, 256 in flight. The queue is on a PostgreSQL server on the same processors, whose"
         " commits wait for the disk. A loop in C with libpq adds the same batches by one insert each, and moves 256 lines at a time to a table of results by"
         " one select, one insert and one delete, without keys, leases or counts. In the runs with several workers, each has one fetcher. Memory is VmHWM of"
         " `attache work`; *sqlite* is the same work in a file. With 10,000 and 5,000,000 queued, 20,000 payloads are processed until so many are left,"
         " and the time is that from the first result to the last. With two standbys on this machine, each commit waits for one of them.")
LOOP = "the libpq loop"
_JOBS = 256
#: The names of queues, and their schemas.
_QUEUE, _SHALLOW, _DEEP = "bench", "shallow", "deep"
#: The maximum size of a server's data and log, without the queue of 5,000,000 payloads and with it.
_SMALL, _LARGE = 2 << 30, 8 << 30
#: Starts a command several times. Fails if one of them does.
_TOGETHER = """count=$1 pids=; shift
while [ $count -gt 0 ]; do "$@" & pids="$pids $!" count=$((count - 1)); done
for pid in $pids; do wait "$pid" || exit; done"""
#: The status of a worker that was told to end and has left payloads.
_STOPPED = 75


def measure(bench):
    absent = bench.lacks_tools() or database.lacking()
    if absent:
        return Result(NAME, ABOUT, absent=absent)
    result = Result(NAME, ABOUT, head=["what", "payloads/s", f"× {LOOP}", "CPU µs per payload", f"CPU × {LOOP}", "servers' CPU µs", "resident MB"])
    work = bench.work(NAME, Generated(bench.count(100_000, 1_000), lambda number: Expected(payloads.passing(number))), jobs=_JOBS)
    with bench.postgresql(bench.count(_LARGE, _SMALL)) as server:
        _add_beside_loop(bench, result, server, work, "")
        _add_workers(bench, result, server, work)
        _add_depth(bench, result, server)
    with bench.postgresql(3 * _SMALL, has_standbys=True) as server:
        _add_beside_loop(bench, result, server, work, "two standbys, ")
    bench.end_row()
    return result


# Beside the loop

def _add_beside_loop(bench, result, server, work, what):
    found = bench.in_turn({command.name: (lambda command=command: _ours(bench, command, server, work)) for command in bench.attaches()}
                          | {LOOP: lambda: _loop(bench, server, work)})
    for step, verb, bound in (("enqueue", "enqueued", 0.5), ("work", "worked", 0.25)):
        runs = {name: [run[step] for run in rounds] for name, rounds in found.items()}
        result.goals.append(Goal(f"{what}{verb}: payloads/s, × {LOOP}", faster(runs, bench.attaches()[0].name, LOOP), bound))
        _add(bench, result, f"{what}{verb}", runs, len(work.expected), LOOP)


def _add(bench, result, what, runs, count, base=None):
    for name in runs:
        ratios = [amount(ratio(runs, name, base)) if base else "" for ratio in (faster, dearer)]
        served = median(run["origin"] for run in runs[name]) / count * 1e6
        result.table.append([f"{what}: {name}", f"{median(rates(runs, name)):,.0f}", ratios[0], amount(median(costs(runs, name)) * 1e6), ratios[1],
                             amount(served), amount(memory(runs, name))])
    result.runs[what] = runs
    result.notes += notes(bench, runs, f"{what}: ")


def _ours(bench, command, server, work):
    server.clear(f"attache_{_QUEUE}")
    store, limit = bench.new_store(), largest(work)
    attache, *flags = command.arguments(store, work.jobs, work.cacert)
    queue = ["--queue", f"{server.uri}?queue={_QUEUE}"]
    found = {"enqueue": bench.cost(f"{command.name} enqueue", [attache, "enqueue", *queue], work, largest=limit),
             "work": bench.cost(f"{command.name} work", [attache, "work", *queue, "--once", *flags, *bench.bucket.options], work, largest=limit)}
    _check(bench, command, queue, store, work)
    server.clear(f"attache_{_QUEUE}")
    return found


def _check(bench, command, queue, store, work):
    attache, *_ = command.arguments(store, work.jobs, work.cacert)
    with queue_folder(bench, work) as folder:
        bench.cost(f"{command.name} results", [attache, "results", *queue], work, folder / "results", largest=largest(work))
        with open(folder / "results", "rb") as output:
            check(output, work.expected, AttacheCheck(store))


def _loop(bench, server, work):
    server.clear("loop")
    bench.new_store()
    program = bench.programs.postgresql_loop()
    found = {step: bench.cost(LOOP, [program, step, server.uri], work, largest=largest(work)) for step in ("enqueue", "work")}
    (count, size, left), = server.sql("SELECT count(*), sum(octet_length(line)), (SELECT count(*) FROM loop.payload) FROM loop.result")
    if (int(count), int(size), int(left)) != (len(work.expected), work.input.stat().st_size, 0):
        raise WrongOutput(f"{LOOP}: {count} results of {size} bytes for {len(work.expected)} payloads, and {left} are left")
    server.clear("loop")
    return found


# Several workers, and the memory of one

def _add_workers(bench, result, server, work):
    command = bench.attaches()[0]
    names = {1: "1 with one fetcher", 4: "4 with one fetcher each"}
    measures = {name: (lambda count=count: _together(bench, command, server, work, count)) for count, name in names.items()}
    runs = bench.in_turn(measures | {"sqlite": lambda: _sqlite(bench, command, work)})
    result.goals.append(Goal("memory of a worker, × sqlite", memory(result.runs["worked"], command.name) / memory(runs, "sqlite"), 1.1, at_least=False))
    _add(bench, result, "workers", runs, len(work.expected))
    # What the processors allow, if four workers cost no more per payload than one.
    processors = len(os.sched_getaffinity(0))
    seconds = median(costs(runs, names[1])) + median(run["origin"] for run in runs[names[1]]) / len(work.expected)
    most = processors / seconds / median(rates(runs, names[1]))
    result.goals.append(Goal(f"four workers: payloads/s, × one ({processors} processors)", faster(runs, names[4], names[1]), most))


def _together(bench, command, server, work, count):
    server.clear(f"attache_{_QUEUE}")
    store, limit = bench.new_store(), largest(work)
    attache, *flags = command.arguments(store, work.jobs, work.cacert)
    queue = ["--queue", f"{server.uri}?queue={_QUEUE}"]
    bench.cost(f"{command.name} enqueue", [attache, "enqueue", *queue], work, largest=limit)
    words = ["sh", "-c", _TOGETHER, "together", count, attache, "work", *queue, "--once", "--fetchers", 1, *flags, *bench.bucket.options]
    found = bench.cost(f"{count} × {command.name} work", words, work, largest=limit)
    _check(bench, command, queue, store, work)
    server.clear(f"attache_{_QUEUE}")
    return found


def _sqlite(bench, command, work):
    store, limit = bench.new_store(), largest(work)
    attache, *flags = command.arguments(store, work.jobs, work.cacert)
    with queue_folder(bench, work) as folder:
        queue = ["--queue", f"sqlite:{folder / 'queue'}"]
        bench.cost(f"{command.name} enqueue", [attache, "enqueue", *queue], work, largest=limit)
        return bench.cost(f"{command.name} work", [attache, "work", *queue, "--once", *flags], work, largest=limit)


# Many payloads

def _add_depth(bench, result, server):
    command, part = bench.attaches()[0], bench.count(20_000, 1_000)
    left = {_SHALLOW: bench.count(10_000, 500), _DEEP: bench.count(5_000_000, 5_000)}
    names = {queue: f"{count:,} queued" for queue, count in left.items()}
    one = bench.work(f"{NAME}-one", [Expected(b'{"aps":{"alert":"The same for each"}}')], jobs=_JOBS)
    server.clear(*(f"attache_{queue}" for queue in names))
    for queue in names:
        bench.cost("attache enqueue", [bench.options.attaches[0][1], "enqueue", "--queue", f"{server.uri}?queue={queue}"], one)
    runs = bench.in_turn({names[queue]: (lambda queue=queue: _part(bench, command, server, one, queue, part, left[queue])) for queue in names})
    shallow, deep = (runs[names[queue]] for queue in (_SHALLOW, _DEEP))
    for what, key in (("work", "work"), ("counts", "counts")):
        ratio = paired_ratio([run[key] for run in deep], [run[key] for run in shallow])
        result.goals.append(Goal(f"{what}: time with {names[_DEEP]}, × {names[_SHALLOW]}", ratio, 1.2, at_least=False))
    for name, rounds in runs.items():
        result.table.append([f"worked, {name}", f"{part / median(run['work'] for run in rounds):,.0f}", "", "", "", "", ""])
        result.notes.append(f"`attache queue` takes {amount(1e3 * median(run['counts'] for run in rounds))} ms with {name}")
    result.runs["queued"] = runs
    server.clear(*(f"attache_{queue}" for queue in names))


def _part(bench, command, server, one, queue, part, left):
    """Processes a part of a queue that has `left` payloads afterwards. Returns the seconds of that, and of `attache queue` before it."""
    schema, place = f"attache_{queue}", ["--queue", f"{server.uri}?queue={queue}"]
    _fill(server, schema, part + left)
    server.sql(f"VACUUM ANALYZE {schema}.payload", f"VACUUM ANALYZE {schema}.work", "CHECKPOINT")
    attache, *flags = command.arguments(bench.new_store(), one.jobs, one.cacert)
    counts = [bench.cost("attache queue", [attache, "queue", *place], one)["wall"] for _ in range(bench.count(9, 1))]
    (done, last), = server.sql(f"SELECT sum(done), (SELECT coalesce(max(finished_at), 0) FROM {schema}.result) FROM {schema}.tally")
    with open(bench.folder / "errors", "wb") as errors:
        worker = children.start([attache, "work", *place, *flags, *bench.bucket.options], orphaned=signal.SIGTERM, stderr=errors, env=bench.environment)
        try:
            _wait_for(server, schema, int(done) + part)
            worker.terminate()
            status = worker.wait(60)
        finally:
            children.end(worker)
    if status not in (0, _STOPPED):
        raise WrongOutput(f"attache work ends with {status}: {(bench.folder / 'errors').read_text(errors='replace')[-300:].strip()}")
    return {"work": _seconds(server, schema, part, last), "counts": median(counts)}


def _wait_for(server, schema, done):
    """Waits until so many payloads have a result. Each look is a transaction of its own, so that no snapshot is held."""
    server.sql(f"DO $$ BEGIN WHILE (SELECT sum(done) FROM {schema}.tally) < {done} LOOP COMMIT; PERFORM pg_sleep(0.05); END LOOP; END $$")


def _seconds(server, schema, part, last):
    """The time for a part of the results, of which the first came after the time `last`. Those that came together with the first are not counted."""
    (count, span), = server.sql(
        f"WITH part AS MATERIALIZED (SELECT finished_at FROM {schema}.result WHERE finished_at > {last} ORDER BY finished_at LIMIT {part}),"
        " ends AS MATERIALIZED (SELECT min(finished_at) AS first, max(finished_at) AS last FROM part)"
        " SELECT (SELECT count(*) FROM part WHERE finished_at > first), last - first FROM ends")
    if int(count) == 0:
        raise WrongOutput(f"{part} payloads are too few for a time: they have their results at once")
    return int(span) / 1e6 * part / int(count)


def _fill(server, schema, count):
    """Adds payloads to a queue until so many are ready: copies of the last one, so that each is as `attache enqueue` left the first."""
    (ready, last), = server.sql(f"SELECT sum(ready), (SELECT last_id FROM {schema}.queue) FROM {schema}.tally")
    added = max(0, count - int(ready))
    for table in ("payload", "work"):
        columns = server.sql(f"SELECT attname FROM pg_attribute WHERE attrelid = '{schema}.{table}'::regclass AND attnum > 0 AND NOT attisdropped "
                             "AND attname <> 'id'")
        names = ", ".join(f'"{name}"' for name, in columns)
        server.sql(f"INSERT INTO {schema}.{table} (id, {names}) SELECT {last} + number, {names} FROM generate_series(1, {added}) AS number, "
                   f"(SELECT * FROM {schema}.{table} ORDER BY id DESC LIMIT 1) AS last")
    server.sql(f"UPDATE {schema}.queue SET last_id = last_id + {added}",
               f"UPDATE {schema}.tally SET ready = ready + {added} WHERE ctid = (SELECT ctid FROM {schema}.tally ORDER BY ready DESC LIMIT 1)")

