"""Memory of a process and its descendants, as the kernel counts it."""
import os
import re


def tree(root):
    """A process and all its descendants."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def _field(process, file, name):
    try:
        with open(f"/proc/{process}/{file}") as text:
            return int(re.search(rf"^{name}:\s+(\d+) kB", text.read(), re.MULTILINE)[1])
    except (OSError, TypeError):
        return 0


def _private(process):
    return _field(process, "smaps_rollup", "Private_Clean") + _field(process, "smaps_rollup", "Private_Dirty")


def joint_kilobytes(processes):
    """Their memory together: all of the first process, and the unshared memory of those that it forked."""
    return resident_kilobytes(processes[:1]) + sum(map(_private, processes[1:]))


def peak_kilobytes(processes):
    """The peak resident size of each (VmHWM)."""
    return [_field(process, "status", "VmHWM") for process in processes]


def resident_kilobytes(processes):
    pages = 0
    for process in processes:
        try:
            with open(f"/proc/{process}/statm") as file:
                pages += int(file.read().split()[1])
        except OSError:
            continue
    return pages * os.sysconf("SC_PAGESIZE") // 1024
