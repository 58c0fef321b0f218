"""The state of a queue, from start to exit."""
import subprocess

from . import start
from ..checking import WrongOutput
from ..programs import Command
from ..result import Result

NAME = "start-queue"
ABOUT = ("`attache queue` of a queue in SQLite with one payload, from start to exit, and `sqlite3` that counts the payloads of the same file. They run "
         "in turn hundreds of times.")


def measure(bench):
    absent = bench.lacks_tools() or bench.lacks("sqlite3")
    if absent:
        return Result(NAME, ABOUT, absent=absent)
    path = bench.folder / "queue.db"
    attaches = [Command(label, lambda *_, program=program: [program, "queue", "--queue", f"sqlite:{path}"]) for label, program in bench.options.attaches]
    subprocess.run([bench.options.attaches[0][1], "enqueue", "--queue", f"sqlite:{path}"], input=b"{}\n", check=True, capture_output=True,
                   env=bench.environment)
    commands = attaches + [Command("sqlite3", lambda *_: ["sqlite3", path, "select count(*) from payload"])]
    found = start.turns(bench, commands, lambda command: _run(bench, command))
    return Result(NAME, ABOUT, [], start.HEAD, start.table(found), [], found)


def _run(bench, command):
    cost = start.launch(bench, command.arguments(None, None, None), subprocess.DEVNULL, subprocess.DEVNULL)
    if cost["status"]:
        raise WrongOutput(f"{command.name} ends with {cost['status']}")
    return cost["wall"]
