"""Instructions per payload, which no other process disturbs."""
import json
import re
import subprocess

from .. import callgrind, payloads
from ..checking import AttacheCheck, Expected, check
from ..programs import SOURCES, attache
from ..result import Goal, Result

NAME = "instructions"
ABOUT = ("`valgrind --tool=callgrind` over 1,000 payloads that pass through and 1,000 with 5 KB media of ten types, minus a run with one payload, "
         "including the detector's process. The figures are compared with `Benchmarks/instructions.json`.")
#: The interleaving of threads varies: two runs of one build differ by less than this.
TOLERANCE = 0.05
RECORDED = SOURCES / "instructions.json"


def measure(bench):
    lack = callgrind.lacking()
    if lack:
        return Result(NAME, ABOUT, absent=f"{', '.join(lack)} is needed")
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    count = bench.count(1_000, 20)
    inputs = {"pass-through": [Expected(payloads.passing(number)) for number in range(count)], "attached": bench.media_lines(count, "tiny")}
    result = Result(NAME, ABOUT, head=["command", "payloads", "instructions per payload", "recorded", "functions that cost most"])
    for label, path in bench.options.attaches:
        command = attache(label, callgrind.without_debugging_information(path, bench.folder / "bare"))
        for kind, lines in inputs.items():
            whole, base = _profile(bench, command, lines), _profile(bench, command, lines[:1])
            whole.subtract(base)
            total = sum(whole.values())
            functions = [[_demangled(name), round(cost / total, 3)] for name, cost in whole.most_common(5)]
            figure, known = round(total / (count - 1)), recorded.get(kind, {}).get("instructions")
            result.runs.setdefault(label, []).append({"kind": kind, "instructions": figure, "functions": functions})
            result.table.append([label, kind, f"{figure:,}", f"{known:,}" if known else "", "; ".join(f"`{name}` {share:.0%}" for name, share in functions)])
            if label == bench.options.attaches[0][0] and known:
                result.goals.append(Goal(f"{kind}: instructions per payload, × recorded", figure / known, 1 + TOLERANCE, at_least=False))
    return result


def record(result):
    """Records the result of a run as the reference for later runs."""
    runs = next(iter(result.runs.values()), [])
    RECORDED.write_text(json.dumps({run.pop("kind"): run for run in map(dict, runs)}, indent=2, ensure_ascii=False) + "\n")


def _profile(bench, command, lines):
    work, store, out = bench.work(NAME, lines, jobs=64), bench.new_store(), bench.folder / "out"
    with open(work.input, "rb") as stdin, open(out, "wb") as stdout:
        costs = callgrind.profile(command.arguments(store, work.jobs, None), bench.programs.unconfined(), bench.folder / "callgrind", stdin, stdout,
                                  bench.environment)
    with open(out, "rb") as output:
        check(output, lines, AttacheCheck(store))
    return costs


def _demangled(name):
    """The name without its parameters."""
    if not name.startswith("$s"):
        return re.sub(r"(?<=\w)\(.*", "", name)
    return subprocess.run(["swift", "demangle", "--compact", "--simplified", name], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
