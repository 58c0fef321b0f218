"""The peak memory of attache, and the memory for each payload in flight."""
import time

from .. import children
from ..checking import AttacheCheck, check
from ..conversation import Conversation
from ..figures import median, slope
from ..memory_probe import joint_kilobytes, peak_kilobytes, resident_kilobytes, tree
from ..result import Goal, Result, amount

NAME = "memory"
ABOUT = ("The peak memory of a run of media-typical with 64 in flight, including the detector's process: the sum of each process's VmHWM, which "
         "counts shared pages twice, and beside it the largest sum at one time, which counts them once. Then the slope from 1,000 to 10,000 payloads"
         " of 1 KB in flight.")


def measure(bench):
    work = bench.work(NAME, bench.media_lines(bench.count(4_000, 60), "typical"), jobs=64)
    counts = [1_000, 4_000, 7_000, 10_000] if not bench.options.is_quick else [50, 100]
    measures = {}
    for command, patient in zip(bench.attaches(), bench.attaches("--deadline", "5m")):
        measures[command.name] = lambda command=command: _peak(bench, command, work)
        measures[f"{command.name} in flight"] = lambda patient=patient: _in_flight(bench, patient, counts)
    runs = bench.in_turn(measures)
    ours = bench.attaches()[0].name
    goals = [Goal("all processes with 64 in flight, shared pages counted once", median(run["joint"] for run in runs[ours]) / 1024, 40, at_least=False, unit=" MB"),
             Goal("for each payload in flight", median(run["slope"] for run in runs[f"{ours} in flight"]), 30, at_least=False, unit=" KB")]
    table = []
    for name in [command.name for command in bench.attaches()]:
        table.append([name, *(amount(median(run[key] for run in runs[name]) / 1024) for key in ("peak", "first", "joint")),
                      *(amount(median(run["resident"][index] for run in runs[f"{name} in flight"]) / 1024) for index in range(len(counts))),
                      amount(median(run["slope"] for run in runs[f"{name} in flight"]))])
    head = ["command", "peak MB", "of attache alone MB", "together MB", *(f"{count:,} in flight MB" for count in counts), "KB per payload"]
    return Result(NAME, ABOUT, goals, head, table, [], runs)


def _peak(bench, command, work):
    store, out = bench.new_store(work), work.folder / "out"
    peaks, joint = {}, 0
    with open(work.input, "rb") as stdin, open(out, "wb") as stdout, open(bench.folder / "errors", "wb") as stderr:
        process = children.start(command.arguments(store, work.jobs, None), stdin=stdin, stdout=stdout, stderr=stderr)
        try:
            while process.poll() is None:
                processes = tree(process.pid)
                for found, peak in zip(processes, peak_kilobytes(processes)):
                    peaks[found] = max(peak, peaks.get(found, 0))
                joint = max(joint, joint_kilobytes(processes))
                time.sleep(0.01)
        finally:
            children.end(process)
    with open(out, "rb") as output:
        check(output, work.expected, AttacheCheck(store))
    return {"peak": sum(peaks.values()), "first": peaks[process.pid], "joint": joint}


def _in_flight(bench, command, counts):
    resident = []
    for count in counts:
        with Conversation(bench, command, bench.new_store(), jobs=count) as talk:
            talk.write(bench.stalled_lines(count))
            bench.stalled.wait_for(count)
            time.sleep(0.2)
            resident.append(resident_kilobytes(tree(talk.process.pid)))
            talk.stop()
        bench.stalled.wait_for(0)
    return {"resident": resident, "slope": slope(list(zip(counts, resident)))}
