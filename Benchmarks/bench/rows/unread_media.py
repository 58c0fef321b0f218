"""Lines in which nothing is found: candidates with and without a URL that nothing reads, and lines without `aps`."""
from .. import comparison, payloads
from ..checking import Expected
from ..figures import median
from ..result import Goal, Result
from ..work import Generated

NAME = "unread-media"
ABOUT = ("1 KB payloads of which none is attached: they ask for a service extension and have a media URL at a place that nothing reads (unread), or none "
         "(candidate); they do not ask for one (passing); they have no `aps` (no-aps). A candidate is searched for such a URL. What the search of 1 KB costs "
         "is what another object of 1 KB costs in a candidate, more than in a passing line. Each difference is the median of the rounds' differences in "
         "processor time.")


def _unread(number):
    return payloads.payload(number).replace(b'"sender":{', b'"sender":{"cms":{"hero":{"url":"https://cdn.example.com/%d/photo.jpg"}},' % number, 1)


def _without_aps(number):
    return payloads.payload(number, mutable=False).replace(b'"aps":', b'"app":', 1)


def _passing(number):
    return payloads.payload(number, mutable=False)


def _more(payload):
    return lambda number: payload(number)[:-1] + b',"more":%b}' % _without_aps(number + 1)


KINDS = {"unread": _unread, "candidate": payloads.payload, "candidate and 1 KB": _more(payloads.payload), "no-aps": _without_aps, "passing": _passing,
         "passing and 1 KB": _more(_passing)}


def measure(bench):
    count = bench.count(300_000, 2_000)
    works = {kind: bench.work(f"{NAME}-{kind.replace(' ', '-')}", Generated(count, lambda number, make=make: Expected(make(number))), jobs=64)
             for kind, make in KINDS.items()}
    attaches = bench.attaches()
    runs = bench.in_turn({f"{command.name} {kind}": (lambda command=command, work=work: bench.run(command, work))
                          for command in attaches for kind, work in works.items()})
    costs = {kind: [cost * 1e6 for cost in comparison.costs(runs, f"{attaches[0].name} {kind}")] for kind in works}

    def differences(kind, base):
        return [ours - theirs for ours, theirs in zip(costs[kind], costs[base])]

    search = [ours - theirs for ours, theirs in zip(differences("candidate and 1 KB", "candidate"), differences("passing and 1 KB", "passing"))]
    goals = [Goal("CPU of the search of 1 KB", median(search), 1, at_least=False, unit=" µs"),
             Goal("CPU per line, unread more than candidate", median(differences("unread", "candidate")), 1, at_least=False, unit=" µs"),
             Goal("CPU per line, no-aps more than passing", median(differences("no-aps", "passing")), 2, at_least=False, unit=" µs")]
    return Result(NAME, ABOUT, goals, comparison.head(runs), comparison.table(runs), comparison.notes(bench, runs), runs)
