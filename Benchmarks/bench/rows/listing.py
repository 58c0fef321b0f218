"""Lists of a queue with millions of payloads, by each filter that has an index."""
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from . import start
from .. import database
from ..checking import WrongOutput
from ..figures import median
from ..programs import Command
from ..result import Goal, Result, amount

NAME = "listing"
ABOUT = ("`attache queue --list --limit 100` of a queue with 5,000,000 payloads, by each filter that has an index, from start to exit; *counts* is `attache "
         "queue`. Four fifths of the payloads are decided: delivered, but for the last 50,000, and for one in a thousand to one in a hundred thousand of each "
         "other state. The lists run in turn.")
_COUNT, _LIMIT = 5_000_000, 100
_SQLITE, _POSTGRESQL = "SQLite", "PostgreSQL"
#: About 700 bytes a payload in SQLite, and 900 in PostgreSQL with its log.
_BYTES = 8 << 30
_BOTH = "--state dropped --reason"
_FILTERS = {f"--state {state}": ["--state", state] for state in
            ("ready", "waiting", "leased", "done", "dropped", "expired", "timed-out", "cancelled", "dead")}
_FILTERS |= {"--reason": ["--reason", "http.status"], "--key": ["--key", "user-7"], _BOTH: ["--state", "dropped", "--reason", "http.status"]}

_ENDED = """CASE WHEN {id} % 1000 = 1 THEN 'dropped' WHEN {id} % 10000 = 2 THEN 'expired' WHEN {id} % 10000 = 3 THEN 'timed-out'
    WHEN {id} % 10000 = 4 THEN 'cancelled' ELSE 'delivered' END"""
_REASON = "CASE WHEN {id} % 100 < 2 THEN 'http.status' ELSE 'payload.no-media' END"
_WORK_STATE = "CASE WHEN {id} % 50 = 0 THEN 2 WHEN {id} % 500 = 1 THEN 3 ELSE 0 END"


def measure(bench):
    absent = bench.lacks_tools() or database.lacking()
    if absent:
        return Result(NAME, ABOUT, absent=absent)
    count, attache = bench.count(_COUNT, 5_000), bench.options.attaches[0][1]
    with tempfile.TemporaryDirectory(prefix="queue.", dir=bench.room.on_disk(_BYTES)) as folder, bench.postgresql(bench.count(_BYTES, 2 << 30)) as server:
        queues = {_SQLITE: f"sqlite:{folder}/queue", _POSTGRESQL: f"{server.uri}?queue=listing"}
        for queue in queues.values():
            subprocess.run([attache, "enqueue", "--queue", queue], input=b"{}\n", check=True, capture_output=True, env=bench.environment)
        _fill_sqlite(Path(folder, "queue"), count)
        _fill_postgresql(server, count)
        commands = [_command(attache, kind, queue, what, words) for kind, queue in queues.items() for what, words in _lists(count).items()]
        for command in commands:
            _check(bench, command, count)
        found = start.turns(bench, commands, lambda command: _run(bench, command), turns=bench.count(4 * bench.rounds, 1))
    result = Result(NAME, ABOUT, head=["list", *(f"{kind}, median ms" for kind in queues)], runs=found)
    medians = {kind: {what: median(found[f"{kind}: {what}"]) for what in _lists(count)} for kind in queues}
    result.table += [[what, *(amount(medians[kind][what]) for kind in queues)] for what in _lists(count)]
    # A list by two filters uses the index of one.
    judged = [what for what in _lists(count) if what != _BOTH]
    result.goals += [Goal(f"{kind}: the slowest list", max(medians[kind][what] for what in judged), 50, at_least=False, unit=" ms") for kind in queues]
    return result


def _lists(count):
    lists = {"counts": []} | {what: ["--list", "--json", "--limit", _LIMIT, *words] for what, words in _FILTERS.items()}
    return lists | {f"{what}, behind the middle": [*lists[what], "--continue", count // 2] for what in ("--state dropped", "--reason")}


def _command(attache, kind, queue, what, words):
    return Command(f"{kind}: {what}", lambda *_: [str(word) for word in (attache, "queue", "--queue", queue, *words)])


def _check(bench, command, count):
    """The first run warms the cache, too."""
    run = subprocess.run(command.arguments(None, None, None), capture_output=True, env=bench.environment)
    lines = run.stdout.count(b"\n")
    if run.returncode or "--list" in command.arguments(None, None, None) and (lines == 0 or count == _COUNT and lines < 16):
        raise WrongOutput(f"{command.name} ends with {run.returncode} and {lines} payloads: {run.stderr.decode(errors='replace')[-300:]}")


def _run(bench, command):
    cost = start.launch(bench, command.arguments(None, None, None), subprocess.DEVNULL, subprocess.DEVNULL)
    if cost["status"]:
        raise WrongOutput(f"{command.name} ends with {cost['status']}")
    return cost["wall"]


def _parts(count):
    """The last number of a result, and the last of a delivered one."""
    return count * 4 // 5, count * 79 // 100


def _fill_sqlite(path, count):
    decided, delivered = _parts(count)
    connection = sqlite3.connect(path, isolation_level=None)
    numbers = f"WITH RECURSIVE n (id) AS (SELECT 2 UNION ALL SELECT id + 1 FROM n WHERE id < {count})"
    try:
        for statement in (
            "PRAGMA synchronous = off", "BEGIN", "DELETE FROM work",
            f"""INSERT INTO payload (id, priority, enqueued_at, search_key, line)
                {numbers} SELECT id, 0, 1790000000000000 + id, CAST('user-' || (id % 50000) AS BLOB), CAST('{{}}' AS BLOB) FROM n""",
            f"""INSERT INTO work (id, state, rank, attempts, deaths, deaths_alone)
                SELECT id, {_WORK_STATE.format(id='id')}, 0, 0, 0, 0 FROM payload WHERE id > {decided} ORDER BY id""",
            f"""INSERT INTO result (id, outcome, reason, dead, read, finished_at, status)
                SELECT id, 'fallback', {_REASON.format(id='id')}, id % 100000 = 7, id <= {delivered}, enqueued_at,
                  CASE WHEN id <= {delivered} THEN {_ENDED.format(id='id')} END FROM payload WHERE id <= {decided} ORDER BY id""",
            """INSERT INTO delivery (id, state, rank, decided, attempts, deaths, deaths_alone)
                SELECT id, 0, 0, finished_at, 0, 0, 0 FROM result WHERE NOT read""",
            "INSERT INTO search (search_key, id) SELECT search_key, id FROM payload WHERE search_key IS NOT NULL",
            f"UPDATE queue SET last_id = {count}", "COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)",
        ):
            connection.execute(statement)
    finally:
        connection.close()


def _fill_postgresql(server, count):
    decided, delivered = _parts(count)
    schema = "attache_listing"
    server.sql(
        f"DELETE FROM {schema}.work",
        f"""INSERT INTO {schema}.payload (id, priority, enqueued_at, search_key, line)
            SELECT id, 0, 1790000000000000 + id, ('user-' || (id % 50000))::bytea, '{{}}'::bytea FROM generate_series(2, {count}) AS id""",
        f"""INSERT INTO {schema}.work (id, state, rank, bytes)
            SELECT id, {_WORK_STATE.format(id='id')}, 0, 2 FROM generate_series({decided + 1}, {count}) AS id""",
        f"""INSERT INTO {schema}.result (id, outcome, reason, dead, finished_at, finisher, finish_fence, status, state, rank, bytes)
            SELECT id, 'fallback', {_REASON.format(id='id')}, id % 100000 = 7, 1790000000000000 + id, 0, 0,
              CASE WHEN id <= {delivered} THEN {_ENDED.format(id='id')} END, CASE WHEN id > {delivered} THEN 0 END, 0, 2
            FROM generate_series(1, {decided}) AS id""",
        f"UPDATE {schema}.queue SET last_id = {count}")
    server.sql(*(f"VACUUM ANALYZE {schema}.{table}" for table in ("payload", "work", "result")), "CHECKPOINT")
