"""PostgreSQL's programs, and the user that runs them: they refuse to run as root."""
import os
import pwd
import re
import shutil
import subprocess
from pathlib import Path

from bench import children

#: The superuser of the servers.
ADMINISTRATOR = "postgres"


class Unavailable(Exception):
    """A program is missing or fails."""


def folder():
    """The folder of PostgreSQL's programs: of Debian's newest version, or of the PATH. Debian's wrappers on the PATH are slower."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(re.sub(r"[^0-9.]", "", path.parts[-3]) or 0))
    found = debian[-1] if debian else shutil.which("initdb")
    if not found:
        raise Unavailable("there is no initdb; run scripts/setup postgresql")
    return Path(found).resolve().parent


def environment():
    """The environment without libpq's variables and files, which are in the home folder, and with messages in English."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith("PG")}, "LC_ALL": "C", "HOME": "/"}


def user():
    """The user and group for programs, as arguments of Popen; nothing unless this process is root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        except KeyError:
            pass
    raise Unavailable("there is no user postgres or nobody")


def give(path):
    """Makes a file or folder that of the programs' user."""
    if os.geteuid() == 0:
        os.chown(path, user()["user"], user()["group"])


def run(name, *words, source=subprocess.DEVNULL):
    """Runs a program of PostgreSQL to its end and returns what it writes. It must succeed."""
    child = children.start([folder() / name, *words], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd="/", **user())
    try:
        output, errors = child.communicate()
    finally:
        children.end(child)
    if child.returncode:
        raise Unavailable(f"{name} ends with {child.returncode}: {(errors or output).decode(errors='replace').strip()[-2000:]}")
    return output.decode()
