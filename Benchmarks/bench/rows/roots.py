"""The cost of the system's root certificates, about 140."""
import os
import shutil
from dataclasses import replace
from pathlib import Path

from .. import children, payloads
from ..checking import Expected
from ..figures import median
from ..origin import TLS_HOSTS
from ..result import Goal, Result, amount

NAME = "roots"
ABOUT = ("One JPEG file of 5 KB over TLS, from start to exit; then one such file from each of 32 origins. Both with the system's roots, and with only "
         "the benchmark's own root. A mount namespace adds that root to the system's.")
_SYSTEM = Path("/etc/ssl/certs/ca-certificates.crt")
_MOUNT = ["unshare", "--mount", "sh", "-c", f'mount --bind "$0" {_SYSTEM} && exec "$@"']


def measure(bench):
    if not bench.nginx.certificate:
        return Result(NAME, ABOUT, absent="openssl is needed for certificates")
    own, bundle = bench.nginx.certificate.root, bench.folder / "bundle.pem"
    if not _SYSTEM.exists() or not shutil.which("unshare") or children.run(["unshare", "--mount", "true"])[1]:
        return Result(NAME, ABOUT, absent=f"{_SYSTEM} and the right to a mount namespace are needed")
    bundle.write_bytes(_SYSTEM.read_bytes() + own.read_bytes())
    os.chmod(bundle, 0o644)
    works = {"one": bench.work(f"{NAME}-one", _lines(bench, ["127.0.0.1"]), jobs=64),
             "32": bench.work(f"{NAME}-32", _lines(bench, TLS_HOSTS), jobs=64)}
    runs, table, goals = {}, [], []
    for command in bench.attaches():
        system = replace(command, name=f"{command.name}, the system's", arguments=lambda *words, command=command: [*_MOUNT, bundle, *command.arguments(*words)])
        alone = replace(command, name=f"{command.name}, one", arguments=lambda store, jobs, _, command=command: command.arguments(store, jobs, own))
        found = bench.in_turn({f"{roots.name}: {name}": lambda roots=roots, work=work: bench.run(roots, work)
                               for name, work in works.items() for roots in (system, alone)})
        runs |= found
        figure = lambda roots, name, key, found=found: median(run[key] for run in found[f"{roots.name}: {name}"]) * 1000
        table += [[roots.name, *(amount(figure(roots, name, key)) for name in works for key in ("wall", "processor"))] for roots in (system, alone)]
        if not goals:
            goals = [Goal("first picture, more than with one root", figure(system, "one", "wall") - figure(alone, "one", "wall"), 60, at_least=False, unit=" ms"),
                     Goal("CPU of 32 origins", figure(system, "32", "processor"), 150, at_least=False, unit=" ms")]
    head = ["command, roots", "one: ms", "one: CPU ms", "32 origins: ms", "32 origins: CPU ms"]
    return Result(NAME, ABOUT, goals, head, table, [], runs)


def _lines(bench, hosts):
    medium = bench.media["tiny.jpg"]
    return [Expected(payloads.payload(number, bench.nginx.url(number, medium.name, tls=True, host=host)), medium) for number, host in enumerate(hosts)]
