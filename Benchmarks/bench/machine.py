"""The load of the machine, and its description."""
import os
import platform
import re
import shutil
import subprocess
import threading
import time


def busy_seconds():
    """The busy time of all processors."""
    with open("/proc/stat") as file:
        ticks = [int(field) for field in file.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def available_memory():
    """The bytes that programs can still use, by the kernel's estimate."""
    with open("/proc/meminfo") as file:
        return int(re.search(r"^MemAvailable:\s+(\d+) kB", file.read(), re.MULTILINE)[1]) * 1024


def wait_for_quiet(time_limit):
    """Waits until less than a tenth of one processor is in use, or until the time limit."""
    end = time.monotonic() + time_limit
    while time.monotonic() < end:
        before, begin = busy_seconds(), time.monotonic()
        time.sleep(0.25)
        if busy_seconds() - before < 0.1 * (time.monotonic() - begin):
            return


class Heartbeat:
    """A thread that wakes every ten milliseconds and records how late it was: a virtual machine can stand still for seconds, and no process in it
    can be on time then."""

    def __init__(self):
        self.largest = 0.0
        threading.Thread(target=self._beat, daemon=True).start()

    def _beat(self):
        while True:
            before = time.monotonic()
            time.sleep(0.01)
            self.largest = max(self.largest, time.monotonic() - before - 0.01)

    def pause(self):
        """The longest pause since the last call, in seconds."""
        found, self.largest = self.largest, 0.0
        return found


def _first_line(*command):
    if not shutil.which(command[0]):
        return ""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return (done.stdout.strip().splitlines() or [""])[0]


def description():
    """The machine and the versions of the measured programs, by name."""
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / 1024 / 1024
    with open("/etc/os-release") as file:
        system = re.search(r'PRETTY_NAME="(.*)"', file.read())
    versions = {"libcurl": _first_line("curl-config", "--version"), "libmagic": _first_line("file", "--version"), "nginx": _first_line("nginx", "-v"),
                "jq": _first_line("jq", "--version"), "Go": _first_line("go", "version"), "Python": platform.python_version(),
                "Swift": _first_line("swift", "--version")}
    return {"machine": f"{os.cpu_count()} × {model[1] if model else platform.machine()}, {memory:.0f} GB", "system":
            f"{system[1] if system else 'Linux'}, Linux {platform.release()}", **{name: _number(text) for name, text in versions.items() if text}}


def _number(text):
    found = re.search(r"\d+(\.\d+)+", text)
    return found[0] if found else text
