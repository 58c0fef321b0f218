"""Public addresses in the payloads' own places, beside the added member."""
import dataclasses

from .. import comparison, payloads
from ..checking import AttacheCheck, Expected, WrongOutput
from ..figures import median
from ..result import Goal, Result
from ..work import Generated

NAME = "attach-as"
ABOUT = ("Payloads with one URL, a 5 KB JPEG, 64 in flight: `--attach-as url`, which replaces the URL, beside `--attach-as member`, both with "
         "`--base-url`. The difference is the median of the rounds' differences in processor time.")
_BASE = "https://cdn.example/push/"


class MemberCheck(AttacheCheck):
    """The added member, with public addresses instead of paths."""

    def line(self, number, line, expected):
        super().line(number, line.replace(_BASE.encode(), f"file://{self.store}/".encode()), expected)


class RewrittenCheck(AttacheCheck):
    """The original with a public address instead of its URL, byte for byte."""

    def line(self, number, line, expected):
        url, digest = expected.url, expected.medium.sha256
        if line != expected.raw.replace(url, f"{_BASE}{digest[:2]}/{digest}.jpg".encode()):
            raise WrongOutput(f"line {number + 1}: is not the original with a public address")


@dataclasses.dataclass(frozen=True, slots=True)
class _Named(Expected):
    """A line with its URL."""
    url: bytes = b""


def measure(bench):
    url, medium = bench.nginx.url("tiny", "tiny.jpg", folder="campaign"), bench.media["tiny.jpg"]
    lines = Generated(bench.count(500_000, 1_000), lambda number: _Named(payloads.payload(number, url), medium, url.encode()))
    work = bench.work(NAME, lines, jobs=64, is_stored_once=True)
    commands = []
    for label, checker in (("member", MemberCheck), ("url", RewrittenCheck)):
        commands += [dataclasses.replace(command, name=f"{command.name} {label}", checker=checker)
                     for command in bench.attaches("--attach-as", label, "--base-url", _BASE)]
    runs = bench.compare(commands, work)
    label = bench.options.attaches[0][0]
    costs = [comparison.costs(runs, f"{label} {kind}") for kind in ("url", "member")]
    more = median((ours - theirs) * 1e6 for ours, theirs in zip(*costs))
    goals = [Goal("CPU per payload, more than the member", more, 0.8, at_least=False, unit=" µs")]
    return Result(NAME, ABOUT, goals, comparison.head(runs), comparison.table(runs), comparison.notes(bench, runs), runs)
