"""Payloads a second and time of processors beside the peers: what several rows share."""
from .bench import DISTURBED
from .figures import median, paired_ratio
from .result import Goal, Result, amount

HEAD = ["command", "payloads/s", "× limit", "CPU µs a payload", "CPU × limit", "origin's CPU µs", "resident MB"]


def beside_all(bench, name, about, lines, jobs, **bounds):
    """A row that measures attache beside every peer over the same payloads."""
    commands = bench.attaches() + bench.chosen("limit", "transfers", "go", "shell", "aiohttp")
    runs = bench.compare(commands, bench.work(name, lines, jobs=jobs))
    return Result(name, about, goals(runs, commands[0].name, **bounds), HEAD, table(runs), notes(bench, runs), runs)


def rates(runs, name):
    return [run["rate"] for run in runs[name]]


def costs(runs, name):
    """Processor seconds a payload."""
    return [run["processor"] / (run["rate"] * run["wall"]) for run in runs[name]]


def faster(runs, ours, peer):
    return paired_ratio(rates(runs, ours), rates(runs, peer))


def dearer(runs, ours, peer):
    return paired_ratio(costs(runs, ours), costs(runs, peer))


def goals(runs, ours, what="", **bounds):
    """Goals of attache against the peers that ran: `limit=1.8` is a rate, `shell=3` too; `cpu=1.1` is the time of processors against the limit."""
    found = []
    for peer, bound in bounds.items():
        if peer == "cpu" and "limit" in runs:
            found.append(Goal(what + "CPU a payload, the C limit = 1", dearer(runs, ours, "limit"), bound, at_least=False))
        elif peer in runs:
            name = {"limit": "the C limit", "jq": "`jq -c .`"}.get(peer, f"the {peer}")
            found.append(Goal(f"{what}payloads/s, {name} = 1", faster(runs, ours, peer), bound))
    return found


def table(runs, what=""):
    """A row for each command."""
    rows = []
    for name, all_runs in runs.items():
        ratio = [amount(measure(runs, name, "limit")) if "limit" in runs else "" for measure in (faster, dearer)]
        payloads = [run["rate"] * run["wall"] for run in all_runs]
        rows.append([what + name, f"{median(rates(runs, name)):,.0f}", ratio[0], amount(median(costs(runs, name)) * 1e6), ratio[1],
                     amount(median(run["origin"] / count for run, count in zip(all_runs, payloads)) * 1e6),
                     amount(median(run["tree_kb"] for run in all_runs) / 1024)])
    return rows


def notes(bench, runs, what=""):
    """How builds of attache compare with the first one, and on the runs that others took processors from."""
    labels = [label for label, _ in bench.options.attaches]
    found = [f"{what}{label} against {labels[0]}: payloads/s {amount(faster(runs, label, labels[0]))}, CPU {amount(dearer(runs, label, labels[0]))}"
             for label in labels[1:]]
    every = [run for all_runs in runs.values() for run in all_runs]
    disturbed = sum(run["disturbed"] > DISTURBED for run in every)
    return found + ([f"{what}{disturbed} of {len(every)} runs were disturbed by other processes"] if disturbed else [])
