"""Files that are uploaded to a bucket, beside libcurl alone."""
import itertools
import json
import os
import re

from .. import comparison, payloads
from ..checking import Expected, WrongOutput
from ..programs import attache
from ..result import Goal, Result
from ..variants import variant

NAME = "upload"
ABOUT = ("`--upload` to SeaweedFS (`scripts/with-s3 scripts/bench upload`): different JPEG files, each of which attache fetches, checks, stores and uploads. "
         "*libcurl* is a C program that uploads the same files from the disk, 32 at once, with the same two requests for each. Each run has a prefix of its own.")


class UploadedCheck:
    """attache's lines: the original and a member that names an object of the bucket."""

    def __init__(self, _):
        pass

    def line(self, number, line, expected):
        before = expected.raw[:-1]
        if not line.startswith(before + b',"attache":'):
            raise WrongOutput(f"line {number + 1}: is not the original with one member more: {line[-200:]}")
        attachment, = json.loads(b"{" + line[len(before) + 1:])["attache"]["attachments"]
        name = re.escape(f"{attachment['sha256'][:2]}/{attachment['sha256']}.jpg")
        if not re.fullmatch(re.escape(f"{os.environ['S3_ENDPOINT']}/{os.environ['S3_BUCKET']}/") + r"[0-9]+/" + name, attachment["url"]):
            raise WrongOutput(f"line {number + 1}: names {attachment}")

    def finish(self, count):
        pass


def measure(bench):
    if "S3_ENDPOINT" not in os.environ:
        return Result(NAME, ABOUT, absent="there is no bucket: run scripts/with-s3 scripts/bench upload")
    result, prefixes = Result(NAME, ABOUT), itertools.count(1)
    label = bench.options.attaches[0][0]
    for size, what, count in (("tiny", "5 KB", 3_000), ("typical", "100 KB", 600)):
        lines = _lines(bench, f"{size}.jpg", bench.count(count, 20))
        work = bench.work(f"{NAME}-{size}", lines, jobs=64)
        measures = {name: (lambda name=name, path=path: bench.run(_command(name, path, next(prefixes)), work)) for name, path in bench.options.attaches}
        runs = bench.in_turn(measures | {"libcurl": lambda: _peer(bench, work, next(prefixes))})
        result.goals.append(Goal(f"{what}: payloads/s, × libcurl", comparison.faster(runs, label, "libcurl"), 0.9))
        result.head = comparison.head(runs)
        result.table += comparison.table(runs, f"{what}: ")
        result.notes += comparison.notes(bench, runs, f"{what}: ")
        result.runs[what] = runs
        bench.end_row()
    return result


def _lines(bench, name, count):
    nginx, content = bench.nginx, bench.media[name].content
    bench._own_folder(count * len(content))
    for number in range(count):
        (nginx.own / f"{number}-{name}").write_bytes(variant(content, "jpg", number))
    return [Expected(payloads.payload(number, nginx.url(number, f"{number}-{name}", "own"))) for number in range(count)]


def _command(label, path, prefix):
    command = attache(label, path, "--upload", f"s3://{os.environ['S3_BUCKET']}/{prefix}", "--upload-endpoint", os.environ["S3_ENDPOINT"],
                      "--upload-credentials", os.environ["S3_CREDENTIALS"])
    return type(command)(label, command.arguments, UploadedCheck)


def _peer(bench, work, prefix):
    with open(os.environ["S3_CREDENTIALS"]) as file:
        values = dict(re.findall(r"^(\w+) = (.*)$", file.read(), re.M))
    host = os.environ["S3_ENDPOINT"].removeprefix("http://")
    bench.new_store(work)
    return bench.cost("libcurl", [bench.programs.upload(), host, os.environ["S3_BUCKET"], prefix, values["aws_access_key_id"],
                                  values["aws_secret_access_key"], bench.nginx.own], work)
