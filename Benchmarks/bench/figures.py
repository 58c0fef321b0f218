"""The arithmetic of the benchmark."""
import math
import statistics

median = statistics.median


def percentile(values, share):
    """The smallest value that `share` (0 to 1) of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def slope(points):
    """The slope of the least-squares line through (x, y)."""
    mean_x = statistics.fmean(x for x, _ in points)
    mean_y = statistics.fmean(y for _, y in points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0


def paired_ratio(ours, theirs):
    """The median of the ratios of the rounds. A disturbance of a whole round affects both sides."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))
