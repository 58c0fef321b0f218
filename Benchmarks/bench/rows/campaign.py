"""One picture, named by a million payloads."""
from .. import comparison, payloads
from ..checking import Expected
from ..result import Goal, Result
from ..work import Generated

NAME = "campaign"
ABOUT = ("A million payloads with one URL, a JPEG that stays fresh for an hour, 64 in flight. The limit fetches the file for each payload, but for "
         "only 20,000 payloads, so the rates are compared. The origin's access log counts the requests.")


def measure(bench):
    count = bench.count(1_000_000, 1_000)
    result = Result(NAME, ABOUT)
    for size, what, faster in (("tiny", "5 KB", 10), ("typical", "100 KB", 20)):
        url, medium = bench.nginx.url(size, f"{size}.jpg", folder="campaign"), bench.media[f"{size}.jpg"]
        work = bench.work(f"{NAME}-{size}", Generated(count, lambda number: Expected(payloads.payload(number, url), medium)), jobs=64,
                          is_stored_once=True)
        other = bench.nginx.url("each", f"{size}.jpg", folder="media")
        share = Generated(bench.count(20_000, 100), lambda number: Expected(payloads.payload(number, other), medium))
        attaches, peers, counter = bench.attaches(), bench.chosen("limit"), _Counter(bench.nginx, size)
        counted = {command.name: (lambda command=command: bench.run(command, work, counter)) for command in attaches}
        each = bench.work(f"{NAME}-{size}-each", share, jobs=64)
        runs = bench.in_turn(counted | {command.name: (lambda command=command: bench.run(command, each)) for command in peers})
        result.goals += comparison.goals(runs, attaches[0].name, f"{what}: ", limit=faster)
        requests = [run["requests"] for run in runs[attaches[0].name]]
        result.goals.append(Goal(f"{what}: requests at the origin in a run", max(requests), 1, at_least=False))
        result.head = comparison.head(runs)
        result.table += comparison.table(runs, f"{what}: ")
        result.notes += comparison.notes(bench, runs, f"{what}: ")
        result.runs[what] = runs
        bench.end_row()
    return result


class _Counter:
    """The number of requests for one picture since the last call."""

    def __init__(self, nginx, key):
        self.nginx, self.key, self.seen = nginx, key, nginx.campaign_requests(key)

    def __call__(self):
        before, self.seen = self.seen, self.nginx.campaign_requests(self.key)
        return {"requests": self.seen - before}
