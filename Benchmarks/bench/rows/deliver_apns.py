"""Results that are sent to Apple, compared with a client that does nothing else."""
import contextlib
import sqlite3

from .. import payloads
from ..checking import Expected, WrongOutput
from ..comparison import costs, dearer, faster, memory, notes, rates
from ..figures import median
from ..origin import TOKEN
from ..result import Goal, Result, amount
from ..work import Generated
from .queue import largest, queue_folder

NAME = "deliver-apns"
ABOUT = ("100,000 results of 1 KB go to nghttpd over TLS and HTTP/2, on one connection with 100 streams. Each has its own apns-id and is recorded as"
         " delivered in the queue, which is on disk. h2load sends the same number of requests of that size without a queue. Its requests are "
         "identical, so HPACK needs few bytes for each.")
PEER = "h2load"
#: The requests in flight: nghttpd allows as many on one connection.
STREAMS = 100
_TOPIC = "com.example.app"


def measure(bench):
    absent = bench.lacks_tools() or bench.lacks("nghttpd", PEER)
    return Result(NAME, ABOUT, absent=absent) if absent else beside(bench, NAME, ABOUT, _line, _sender, PEER, _peer)


def beside(bench, name, about, line, sender, peer, run_peer):
    """A row that sends 100,000 results to nghttpd, each from `line` of its number. `sender` gives the options of `deliver` for a server; `run_peer`, of
    bench and work, runs the peer once and gives its cost."""
    result = Result(name, about, head=["what", "requests/s", f"× {peer}", "CPU µs per request", f"CPU × {peer}", "CPU µs of nghttpd", "resident MB"])
    work = bench.work(name, Generated(bench.count(100_000, 1_000), lambda number: Expected(line(number))), jobs=256)
    measures = {command.name: (lambda command=command: _ours(bench, command, work, sender)) for command in bench.attaches()}
    runs = bench.in_turn(measures | {peer: lambda: run_peer(bench, work)})
    for label in runs:
        ratios = [amount(ratio(runs, label, peer)) for ratio in (faster, dearer)]
        result.table.append([label, f"{median(rates(runs, label)):,.0f}", ratios[0], amount(median(costs(runs, label)) * 1e6), ratios[1],
                             amount(median(run["origin"] for run in runs[label]) / len(work.expected) * 1e6), amount(memory(runs, label))])
    ours = next(iter(measures))
    result.runs[name] = runs
    result.goals += [Goal(f"over {peer}", faster(runs, ours, peer), 0.8), Goal("memory", memory(runs, ours), 40, at_least=False, unit=" MB")]
    result.notes += notes(bench, runs, "")
    bench.end_row()
    return result


def _ours(bench, command, work, sender):
    server, store, limit = bench.nghttpd, bench.new_store(), largest(work)
    attache, *flags = command.arguments(store, work.jobs, work.cacert)
    with queue_folder(bench, work) as folder:
        queue = ["--queue", f"sqlite:{folder / 'queue'}"]
        bench.cost(f"{command.name} enqueue", [attache, "enqueue", *queue], work, largest=limit)
        bench.cost(f"{command.name} work", [attache, "work", *queue, "--once", *flags], work, largest=limit)
        found = bench.cost(f"{command.name} deliver",
                           [attache, "deliver", *queue, "--once", "--jobs", STREAMS, *sender(server), "--cacert", server.root], work, largest=limit)
        with contextlib.closing(sqlite3.connect(folder / "queue")) as database:
            count, = database.execute("SELECT count(*) FROM result WHERE status = 'delivered' AND answer = '200'").fetchone()
        if count != len(work.expected):
            raise WrongOutput(f"{command.name}: nghttpd took {count} of {len(work.expected)}")
        return found


def _line(number):
    return b'{"token":"%b",%b' % (TOKEN.encode(), payloads.passing(number)[1:])


def _sender(server):
    return ["--apns", "--apns-host", server.authority, "--apns-key", server.key, "--apns-key-id", "ABC123DEFG", "--apns-team-id", "DEF123GHIJ",
            "--apns-topic", _TOPIC, "--apns-token-path", "/token"]


def _peer(bench, work):
    server, out = bench.nghttpd, bench.folder / "out"
    bench.new_store()
    body = bench.folder / "body"
    body.write_bytes(_line(0))
    headers = ["apns-id: " + "0" * 36, "apns-push-type: alert", f"apns-topic: {_TOPIC}", "apns-priority: 10", "authorization: bearer " + "x" * 200]
    words = [word for header in headers for word in ("-H", header)]
    found = bench.cost(PEER, [PEER, "-n", len(work.expected), "-c", 1, "-m", STREAMS, "-t", 1, "-d", body, *words,
                              f"https://{server.authority}/3/device/{TOKEN}"], work, out)
    said = out.read_text()
    if f"{len(work.expected)} 2xx" not in said:
        raise WrongOutput(f"{PEER}: {said[-500:]}")
    return found
