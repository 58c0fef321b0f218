"""A temporary folder for servers, which is removed however this process ends."""
import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import programs

#: Of the names of these folders.
PREFIX = "attache-postgresql."
#: Waits until its input is closed, as the kernel does for a killed process, and removes the folder when the servers have left it. A server that is told to
#: end at once needs up to 5 s.
_KEEPER = """
trap "" HUP INT TERM
cat
for file in "$1"/*/postmaster.pid; do
  for attempt in $(seq 100); do
    read -r server <"$file" && kill -0 "$server" || break
    sleep 0.1
  done
done 2>/dev/null
for attempt in 1 2 3 4 5; do rm -rf -- "$1" && exit; sleep 0.2; done
"""


def parent():
    """Where the programs' user, who may be allowed less than this one, can reach a folder of its own."""
    path = Path(tempfile.gettempdir()).resolve()
    is_reachable = os.geteuid() != 0 or all(above.stat().st_mode & 0o001 for above in (path, *path.parents))
    return path if is_reachable else Path("/tmp")


@contextlib.contextmanager
def temporary_folder():
    """A new folder of the programs' user."""
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent()))
    programs.give(path)
    keeper = subprocess.Popen(["sh", "-c", _KEEPER, "keeper", path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        keeper.communicate()
