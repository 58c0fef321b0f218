"""A user's service extension in a process of its own."""
import os
import pathlib
import subprocess
import time

from ..checking import WrongOutput
from ..conversation import Conversation
from ..figures import median, percentile
from ..result import Goal, Result, amount

NAME = "extension"
ABOUT = ("`--extension`: 1,000 payloads without media, each written after the previous line has come out, through one process of an extension that answers at once. "
         "The peer is attache without the flag, in the same run.")

_LINE = b'{"aps":{"alert":{"title":"Good morning","body":"Your coffee is ready"},"mutable-content":1},"id":"7"}'


def measure(bench):
    program = bench.folder / "Extension"
    attache = bench.options.attaches[0][1]
    source = pathlib.Path(__file__).parents[3] / "Fixtures/extensions/Careful.swift"
    built = subprocess.run([attache, "extension", "build", source, "-o", program], capture_output=True, text=True)
    if built.returncode != 0:
        return Result(NAME, ABOUT, absent=f"attache extension build failed: {built.stderr.strip()}")
    plain, served = bench.attaches()[0], bench.attaches("--extension", str(program), "--extension-processes", "1")[0]
    runs = bench.in_turn({name: lambda command=command, name=name: _run(bench, command, name == "with") for name, command in
                          (("without", plain), ("with", served))})
    key = {name: {figure: median(run[figure] for run in found) for figure in ("first", "p50", "p99")} for name, found in runs.items()}
    growth = median(run["growth"] for run in runs["with"])
    goals = [Goal("first answer, more than without", key["with"]["first"] - key["without"]["first"], 25, at_least=False, unit=" ms"),
             Goal("p50, more than without", key["with"]["p50"] - key["without"]["p50"], 0.5, at_least=False, unit=" ms"),
             Goal("memory after 1,000 over that after 100", growth, 1.1, at_least=False)]
    table = [[name, *(amount(figures[figure]) for figure in ("first", "p50", "p99"))] for name, figures in key.items()]
    return Result(NAME, ABOUT, goals, ["command", "first ms", "p50 ms", "p99 ms"], table, [], runs)


def _run(bench, command, is_served):
    took, memory = [], []
    begin = time.perf_counter()
    with Conversation(bench, command, bench.new_store(), jobs=64) as talk:
        count = bench.count(1_000, 200)
        for number in range(count):
            if talk.ask(_LINE) != _LINE:
                raise WrongOutput(f"{command.name}: the line was changed")
            end = time.perf_counter()
            took.append((end - begin) * 1000)
            if is_served and number in (99, count - 1):
                memory.append(_memory(talk.process.pid))
            begin = time.perf_counter()
    rest = took[1:]
    run = {"first": took[0], "p50": percentile(rest, 0.5), "p99": percentile(rest, 0.99)}
    return run | ({"growth": memory[1] / memory[0]} if is_served else {})


def _memory(attache):
    """The anonymous memory of the extension's process, in pages."""
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.readlink(f"/proc/{name}/exe").endswith("/Extension/Extension"):
                _, resident, shared, *_ = pathlib.Path(f"/proc/{name}/statm").read_text().split()
                return int(resident) - int(shared)
        except OSError:
            continue
    raise WrongOutput(f"the extension of {attache} does not run")
