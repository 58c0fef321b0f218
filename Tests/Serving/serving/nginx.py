"""nginx with the configuration of Documentation/operations.md, over a store."""

import contextlib
import grp
import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

HOME = Path(__file__).resolve().parents[3]
IS_ROOT = os.geteuid() == 0
# The group that may read the store: that of nginx.
GROUP = grp.getgrnam("nogroup").gr_gid if IS_ROOT else os.getegid()


def check(right, complaint):
    if not right:
        sys.exit(f"{Path(sys.argv[0]).name}: {complaint}")


def documented():
    """The configuration of Documentation/operations.md."""
    blocks = re.findall(r"^```nginx\n(.*?)^```$", (HOME / "Documentation/operations.md").read_text(), re.M | re.S)
    check(len(blocks) == 1, f"Documentation/operations.md has {len(blocks)} blocks of nginx instead of one")
    return blocks[0]


def replaced(text, old, new):
    text, count = re.subn(old, lambda _: new, text)
    check(count == 1, f"the configuration of Documentation/operations.md has {old} {count} times instead of once")
    return text


@contextlib.contextmanager
def nginx(folder, store, configuration):
    """nginx over a store, as its port. It inherits a listening socket, so no other process can take the port, and it answers once it runs."""
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    check(program, "there is no nginx; run scripts/setup nginx-light")
    prefix = Path(tempfile.mkdtemp(dir=folder))
    if IS_ROOT:
        shutil.chown(prefix, "nobody")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        server = replaced(configuration, r"listen [^;]*;", f"listen 127.0.0.1:{port};")
        server = replaced(server, r"root [^;]*;", f"root {store};")
        temporary = "".join(f"  {kind}_temp_path {prefix}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (prefix / "nginx.conf").write_text(
            f"daemon off;\nworker_processes 1;\nerror_log stderr emerg;\npid {prefix}/pid;\nevents {{}}\nhttp {{\n  access_log off;\n{temporary}{server}}}\n")
        listener.setblocking(False)
        with open(prefix / "errors", "wb") as errors:
            process = subprocess.Popen(
                [program, "-e", "stderr", "-p", prefix, "-c", prefix / "nginx.conf"], stderr=errors, env={"NGINX": f"{listener.fileno()};"},
                pass_fds=[listener.fileno()], **({"user": "nobody", "group": GROUP, "extra_groups": []} if IS_ROOT else {}))
    try:
        yield port
    finally:
        if process.poll() is not None:
            print((prefix / "errors").read_text(), file=sys.stderr)
        process.terminate()
        process.wait(timeout=20)


def get(port, path, **fields):
    """The answer for a path, which is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection):
        connection.putrequest("GET", path)
        for name, value in fields.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer, answer.read()
