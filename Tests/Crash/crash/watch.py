"""Watches a process from outside: changes in folders (inotify(7)) and the system calls in which its threads are (proc(5))."""
import ctypes
import os
import re
import select
import struct
import time

_libc = ctypes.CDLL(None, use_errno=True)
_MODIFY, _CREATE, _MOVED_TO, _MOVED_FROM, _DELETE = 0x2, 0x100, 0x80, 0x40, 0x200
_NAMES = {_MODIFY: "writes", _CREATE: "creates", _MOVED_TO: "renames", _MOVED_FROM: "renames", _DELETE: "removes"}
_NONBLOCK, _CLOEXEC = 0o4000, 0o2000000
#: By number, as x86-64 and arm64 have them (unistd_64.h, asm-generic/unistd.h).
_CALLS = {"x86_64": {1: "writes", 18: "writes", 20: "writes", 74: "syncs", 75: "syncs", 82: "renames", 264: "renames", 316: "renames", 86: "links", 265: "links",
                     87: "removes", 263: "removes", 77: "writes", 72: "locks", 202: None},
          "aarch64": {64: "writes", 68: "writes", 66: "writes", 82: "syncs", 83: "syncs", 38: "renames", 276: "renames", 37: "links", 35: "removes", 46: "writes",
                      25: "locks"}}.get(os.uname().machine, {})
_WITH_DESCRIPTOR = {"writes", "syncs", "locks"}


class Folders:
    """Changes in folders and their subfolders, as they happen."""

    def __init__(self, folders):
        self._descriptor = _libc.inotify_init1(_NONBLOCK | _CLOEXEC)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self._paths = {}
        for folder in folders:
            for path, _, _ in os.walk(folder):
                self._add(path)

    def _add(self, path):
        number = _libc.inotify_add_watch(self._descriptor, os.fsencode(path), sum(_NAMES))
        if number >= 0:
            self._paths[number] = path

    def wait(self, child, seconds, changes):
        """The nth change from now on, as (what, path); None if the time limit is reached or the child ends first."""
        self._read()
        end, left = time.monotonic() + seconds, changes
        while time.monotonic() < end and child.poll() is None:
            if not select.select([self._descriptor], [], [], 0.02)[0]:
                continue
            for found in self._read():
                left -= 1
                if left <= 0:
                    return found
        return None

    def _read(self):
        try:
            data = os.read(self._descriptor, 65536)
        except BlockingIOError:
            return []
        found, place = [], 0
        while place < len(data):
            number, mask, _, length = struct.unpack_from("iIII", data, place)
            name = data[place + 16:place + 16 + length].rstrip(b"\0")
            place += 16 + length
            path = os.path.join(self._paths.get(number, ""), os.fsdecode(name))
            if mask & _CREATE and os.path.isdir(path):
                self._add(path)
            what = next((text for bit, text in _NAMES.items() if mask & bit), None)
            if what:
                found.append((what, path))
        return found

    def close(self):
        os.close(self._descriptor)


def calls(pid):
    """The modifying system calls that a process's threads are in, as (what, path). Calls that only wait are left out."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/syscall") as file:
                words = file.read().split()
            what = _CALLS.get(int(words[0])) if words and re.fullmatch(r"\d+", words[0]) else None
            if what:
                found.append((what, _path(pid, int(words[1], 16)) if what in _WITH_DESCRIPTOR else ""))
    except OSError:
        pass
    return found


def _path(pid, descriptor):
    try:
        return os.readlink(f"/proc/{pid}/fd/{descriptor}")
    except OSError:
        return ""


def wait_for_call(child, seconds, wanted):
    """A system call of a kind, as (what, path); None if the time limit is reached or the child ends first."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and child.poll() is None:
        for call in calls(child.pid):
            if call[0] in wanted and call[1][:1] in ("/", ""):
                return call
    return None


def wait_for_work(child, seconds):
    """Waits until a child has written anything (its queue comes first), the time limit is reached, or the child ends."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/io") as file:
                if int(re.search(r"^wchar: (\d+)", file.read(), re.MULTILINE)[1]) > 0:
                    return
        except OSError:
            return
        time.sleep(0.002)
