"""The result of a row of the benchmark."""
from dataclasses import dataclass, field


@dataclass
class Goal:
    """A figure and its limit."""
    what: str
    value: float
    bound: float
    at_least: bool = True
    unit: str = ""
    #: A figure without a limit, shown for comparison.
    judged: bool = True

    @property
    def met(self):
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def figure(self):
        return f"{amount(self.value)}{self.unit}"

    @property
    def text(self):
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}{self.unit}"

    @property
    def verdict(self):
        return "not judged" if not self.judged else "met" if self.met else "missed"


def amount(value):
    """A number with three digits and thousands separators."""
    size = abs(value)
    return f"{value:,.0f}" if size >= 100 or value == int(value) else f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 0.1 else f"{value:.3f}"


@dataclass
class Result:
    """A row: its goals, a table with its details, and all single runs."""
    name: str
    about: str
    goals: list = field(default_factory=list)
    head: list = field(default_factory=list)
    table: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    runs: dict = field(default_factory=dict)
    #: Why there are no figures: something that the machine lacks.
    absent: str = ""
    #: What was wrong with an output: an error of the benchmark.
    fault: str = ""
    #: The date, and the number of rounds.
    measured: str = ""
