"""Candidates in which nothing is found, with and without a URL that nothing reads."""
from .. import comparison, payloads
from ..checking import Expected
from ..figures import median
from ..result import Goal, Result
from ..work import Generated

NAME = "unread-media"
ABOUT = ("1 KB payloads that ask for a service extension and name no media that attache knows: with a media URL at a place that nothing reads "
         "(`payload.unread-media`), and without one. Both are searched; the difference is the median of the rounds' differences in processor time.")


def measure(bench):
    def unread(number):
        return payloads.payload(number).replace(b'"sender":{', b'"sender":{"cms":{"hero":{"url":"https://cdn.example.com/%d/photo.jpg"}},' % number, 1)

    count = bench.count(300_000, 2_000)
    works = {kind: bench.work(f"{NAME}-{kind}", Generated(count, lambda number, make=make: Expected(make(number))), jobs=64)
             for kind, make in (("unread", unread), ("none", payloads.payload))}
    attaches = bench.attaches()
    runs = bench.in_turn({f"{command.name} {kind}": (lambda command=command, work=work: bench.run(command, work))
                          for command in attaches for kind, work in works.items()})
    label = attaches[0].name
    costs = [comparison.costs(runs, f"{label} {kind}") for kind in works]
    more = median((ours - theirs) * 1e6 for ours, theirs in zip(*costs))
    goals = [Goal("CPU per line, more than without a URL", more, 1, at_least=False, unit=" µs")]
    return Result(NAME, ABOUT, goals, comparison.head(runs), comparison.table(runs), comparison.notes(bench, runs), runs)
