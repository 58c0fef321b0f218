"""A running filter that is fed line by line."""
import os
import select
import signal
import subprocess
import time

from . import children
from .checking import WrongOutput


class Conversation:
    """Starts a command with our pipes at both ends."""

    def __init__(self, bench, command, store, jobs):
        words = command.arguments(store, jobs, None)
        self.name = command.name
        self._errors = open(bench.folder / "errors", "w+b")
        self.process = children.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0, env=bench.environment)
        self.input, self._output = self.process.stdin.fileno(), self.process.stdout.fileno()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        children.end(self.process)
        for file in (self.process.stdin, self.process.stdout, self._errors):
            file.close()

    def write(self, lines):
        """Blocks until the command has read everything except what fits into the pipe."""
        text = memoryview(b"".join(line.raw + b"\n" for line in lines))
        while text:
            text = text[os.write(self.input, text):]

    def write_file(self, path):
        """Lets another process write a file to the command."""
        return children.start(["cat", path], stdout=self.process.stdin)

    def ask(self, line, time_limit=10):
        """Writes one line, waits for one, and returns it without its line feed."""
        os.write(self.input, line + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            if not select.select([self._output], [], [], time_limit)[0]:
                raise WrongOutput(f"{self.name}: no line for a line")
            block = os.read(self._output, 1 << 16)
            if not block:
                raise WrongOutput(f"{self.name}: ends in the middle")
            answer += block
        return answer[:-1]

    def read_lines(self, count, time_limit=60):
        """Reads this many lines. Returns them and the time of the last one."""
        blocks, found = [], 0
        while found < count:
            if not select.select([self._output], [], [], time_limit)[0]:
                raise WrongOutput(f"{self.name}: {found} lines of {count}")
            block = os.read(self._output, 1 << 18)
            if not block:
                raise WrongOutput(f"{self.name}: ends after {found} lines of {count}")
            found += block.count(b"\n")
            blocks.append(block)
        moment = time.monotonic()
        return b"".join(blocks).split(b"\n")[:-1], moment

    def lines(self):
        """Reads all lines until the command closes its output."""
        rest = b""
        while block := os.read(self._output, 1 << 18):
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
        if rest:
            raise WrongOutput(f"{self.name}: the last line is cut off")

    def errors(self):
        """The lines of its standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace").splitlines() or [""]

    def stop(self):
        """Asks attache twice to stop and returns its remaining output. It may have closed its input earlier."""
        self.process.stdin.close()
        blocks, next_signal = [], 0.0
        while True:
            if time.monotonic() > next_signal and self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                next_signal = time.monotonic() + 0.2
            if not select.select([self._output], [], [], 0.05)[0]:
                continue
            block = os.read(self._output, 1 << 18)
            if not block:
                break
            blocks.append(block)
        self.process.wait()
        return b"".join(blocks).split(b"\n")[:-1]
