"""Payloads per second and processor time compared with the peers, for several rows."""
from .bench import DISTURBED
from .figures import median, paired_ratio
from .programs import PEERS
from .result import Goal, Result, amount

#: The peers with which every command of a table is compared.
_BASES = ["limit", "sharded"]


def beside_all(bench, name, about, lines, jobs, peers=PEERS, **bounds):
    """A row that compares attache with all or some peers, over the same payloads."""
    commands = bench.attaches() + bench.chosen(*peers)
    runs = bench.compare(commands, bench.work(name, lines, jobs=jobs))
    return Result(name, about, goals(runs, commands[0].name, **bounds), head(runs), table(runs), notes(bench, runs), runs)


def rates(runs, name):
    return [run["rate"] for run in runs[name]]


def costs(runs, name):
    """Processor seconds per payload."""
    return [run["processor"] / (run["rate"] * run["wall"]) for run in runs[name]]


def memory(runs, name):
    """Peak resident MB."""
    return median(run["peak_kb"] for run in runs[name]) / 1024


def faster(runs, ours, peer):
    return paired_ratio(rates(runs, ours), rates(runs, peer))


def dearer(runs, ours, peer):
    return paired_ratio(costs(runs, ours), costs(runs, peer))


def goals(runs, ours, what="", **bounds):
    """Goals of attache against the peers that ran: `limit=1.8` is a rate, `shell=3` too; `limit_cpu=1.1` is the time of processors."""
    found = []
    for key, bound in bounds.items():
        peer = key.removesuffix("_cpu")
        if peer not in runs:
            continue
        name = {"limit": "the C limit", "sharded": "sharded", "jq": "`jq -c .`"}.get(peer, f"the {peer}")
        found.append(Goal(f"{what}payloads/s, × {name}", faster(runs, ours, peer), bound) if peer == key else
                     Goal(f"{what}CPU per payload, × {name}", dearer(runs, ours, peer), bound, at_least=False))
    return found


def _bases(runs):
    return [peer for peer in _BASES if peer in runs]


def head(runs):
    """The header of a table of these runs."""
    bases = _bases(runs)
    return ["command", "payloads/s", *(f"× {peer}" for peer in bases), "CPU µs per payload", *(f"CPU × {peer}" for peer in bases), "origin's CPU µs",
            "resident MB"]


def table(runs, what=""):
    """A row for each command."""
    rows = []
    for name, all_runs in runs.items():
        rate, cost = ([amount(ratio(runs, name, peer)) for peer in _bases(runs)] for ratio in (faster, dearer))
        payloads = [run["rate"] * run["wall"] for run in all_runs]
        rows.append([what + name, f"{median(rates(runs, name)):,.0f}", *rate, amount(median(costs(runs, name)) * 1e6), *cost,
                     amount(median(run["origin"] / count for run, count in zip(all_runs, payloads)) * 1e6),
                     amount(median(run["tree_kb"] for run in all_runs) / 1024)])
    return rows


def notes(bench, runs, what=""):
    """Notes: how builds of attache compare with the first one, and how many runs were disturbed."""
    labels = [label for label, _ in bench.options.attaches if label in runs]
    found = [f"{what}{label} against {labels[0]}: payloads/s {amount(faster(runs, label, labels[0]))}, CPU {amount(dearer(runs, label, labels[0]))}"
             for label in labels[1:]]
    every = [run for all_runs in runs.values() for run in all_runs]
    disturbed = sum(run["disturbed"] > DISTURBED for run in every)
    return found + ([f"{what}{disturbed} of {len(every)} runs were disturbed by other processes"] if disturbed else [])
