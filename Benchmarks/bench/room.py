"""Where a run may write, how much of it in memory, and the removal of its files."""
import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import machine

PREFIX = "attache-benchmark."
#: The part of the free memory or disk space that a run may use.
SHARE = 0.25
#: Removes a folder when the process that started it has closed its input, as the kernel does for a killed process. Writers may end a little later.
_KEEPER = 'trap "" HUP INT TERM; cat; for attempt in 1 2 3 4 5; do rm -rf -- "$1" && exit; sleep 0.2; done'


class Room:
    """Folders of this process, one in memory and one on disk, each made on first use. Each has a keeper, which removes it however this
    process ends. If the keeper was killed too, the next room removes it: a folder is locked while its owner lives."""

    def __init__(self, disk, memory="/dev/shm"):
        self._memory, self._disk, self._opened = Path(memory), Path(disk), {}
        for parent in (self._memory, self._disk):
            remove_abandoned(parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def folder(self, need):
        """The folder with space for this many bytes: in memory if they are a small part of the free memory."""
        return self._open(self._memory) if need <= SHARE * _free_memory(self._memory) else self.on_disk(need)

    def on_disk(self, need):
        """The folder on disk. The kernel caches what fits into memory."""
        if need > SHARE * shutil.disk_usage(self._disk).free:
            raise RuntimeError(f"{need / 1e9:.1f} GB are needed, which neither memory nor the disk of {self._disk} has to spare")
        return self._open(self._disk)

    def is_memory(self, folder):
        return Path(folder).parent == self._memory

    def _open(self, parent):
        if parent not in self._opened:
            path, lock = _new_folder(parent)
            keeper = subprocess.Popen(["sh", "-c", _KEEPER, "keeper", path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      start_new_session=True)
            self._opened[parent] = path, lock, keeper
        return self._opened[parent][0]

    def close(self):
        for _, lock, keeper in self._opened.values():
            keeper.communicate()
            os.close(lock)
        self._opened = {}


def _free_memory(parent):
    """How much may be written to a file system in memory, which may allow more than the machine has."""
    return min(shutil.disk_usage(parent).free, machine.available_memory()) if parent.is_dir() else 0


def _new_folder(parent):
    while True:
        path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}.", dir=parent))
        lock = _locked(path)
        if lock is not None:
            return path, lock


def _locked(path):
    """A descriptor that holds the lock of a folder of ours; None if another process holds it or has removed the folder."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = os.fstat(folder)
        if found.st_uid == os.geteuid() and os.path.samestat(found, os.stat(path, follow_symlinks=False)):
            return folder
    except OSError:
        pass
    os.close(folder)
    return None


def remove_abandoned(parent):
    """Removes this user's folders of the benchmark that are not locked."""
    for path in Path(parent).glob(f"{PREFIX}*"):
        lock = _locked(path)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)
