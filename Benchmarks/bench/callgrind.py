"""Instructions by function, of a command and the processes that it forks."""
import collections
import os
import re
import shutil
import subprocess
import time

from . import children

TOOLS = ("valgrind", "callgrind_annotate", "objcopy")
_FUNCTION = re.compile(r"^\s*([\d,]+) \(\s*[\d.]+%\)\s+\S*?:(\S.*?)(?:'\d+)?(?: \[(\S+)\])?$", re.MULTILINE)


def lacking():
    return [tool for tool in TOOLS if not shutil.which(tool)]


def without_debugging_information(program, copy):
    """Removes debugging information, since valgrind 3.19 does not understand Swift's. Function names stay."""
    subprocess.run(["objcopy", "--strip-debug", program, copy], check=True)
    return copy


def profile(words, unconfined, folder, stdin, stdout, environment):
    """Runs a command and returns its instructions by function."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with open(folder / "log", "wb") as log:
        process = children.start(["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={folder}/%p.profile", *words], stdin=stdin, stdout=stdout,
                                 stderr=log, start_new_session=True, env={**environment, "LD_PRELOAD": str(unconfined)})
        try:
            status = process.wait()
            _wait_for_session(process.pid)  # a forked process writes its profile when the command is gone
        finally:
            children.end(process)
    if status:
        raise RuntimeError("valgrind: " + (folder / "log").read_text(errors="replace")[-500:])
    costs = collections.Counter()
    for file in folder.glob("*.profile"):
        if file.stat().st_size:
            text = subprocess.run(["callgrind_annotate", "--threshold=100", file], stdout=subprocess.PIPE, text=True, check=True).stdout
            for cost, name, library in _FUNCTION.findall(text):
                costs[_name(name, library)] += int(cost.replace(",", ""))
    return costs


def _name(name, library):
    """A function without a symbol is identified only by its library."""
    return f"without a name in {os.path.basename(library)}" if name.startswith("0x") and library else name


def _wait_for_session(number):
    for _ in range(600):
        if not any(_session(name) == number for name in filter(str.isdigit, os.listdir("/proc"))):
            return
        time.sleep(0.05)
    raise RuntimeError("a profiled process does not end")


def _session(name):
    try:
        with open(f"/proc/{name}/stat") as file:
            state, *fields = file.read().rsplit(")", 1)[1].split()
        return 0 if state == "Z" else int(fields[2])
    except OSError:
        return 0
