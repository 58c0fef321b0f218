"""Formats results for the terminal, as JSON and as Documentation/benchmarks.md."""
import json
import re
import time


#: The longest cell that is aligned.
_ALIGNED = 48


def table(head, rows):
    """Returns a Markdown table with aligned columns; figures are aligned to the right."""
    texts = [[str(cell) for cell in row] for row in [head, *rows]]
    columns = list(zip(*texts))
    widths = [max(3, *(min(_ALIGNED, len(cell)) for cell in column)) for column in columns]
    are_figures = [all(re.match(r"[≥≤−-]? ?[\d,.]+", cell) for cell in column[1:] if cell) and any(column[1:]) for column in columns]
    are_figures[0] = False

    def line(cells):
        return "| " + " | ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(cells, widths, are_figures)) + " |"

    rule = ["-" * (width - 1) + ":" if right else "-" * width for width, right in zip(widths, are_figures)]
    return "\n".join([line(texts[0]), line(rule), *map(line, texts[1:])])


def text(result):
    """Returns one row, for the terminal and for the document."""
    parts = []
    if result.fault:
        parts.append(f"**No figures: {result.fault}.**")
    elif result.absent:
        parts.append(f"Not measured: {result.absent}.")
    if result.goals:
        parts.append(table(["goal", "", "measured", ""], [[goal.what, goal.text, goal.figure, goal.verdict] for goal in result.goals]))
    if result.table:
        parts.append(table(result.head, result.table))
    if result.notes:
        parts.append("\n".join(f"- {note}." for note in result.notes))
    return "\n\n".join(parts)


def summary(results):
    """Returns the goals of all rows in one table."""
    rows = []
    for result in results:
        if not result.goals:
            rows.append([result.name, result.absent or result.fault or "recorded for the first time", "", "", ""])
        rows += [[result.name if not index else "", goal.what, goal.text, goal.figure, goal.verdict] for index, goal in enumerate(result.goals)]
    return table(["row", "what", "goal", "measured", ""], rows)


def document(results, description):
    """Returns the text of Documentation/benchmarks.md."""
    lines = ["# Benchmarks", "", "The results of `scripts/bench --markdown`. [CONTRIBUTING.md](../CONTRIBUTING.md#the-benchmark) explains how to read them.", "",
             table(["measured with", ""], description.items()), "", summary(results)]
    for result in results:
        lines += ["", f"## {result.name}", "", result.about, "", text(result), "", f"Measured on {result.measured}."]
    return "\n".join(lines).rstrip() + "\n"


def record(results, description, settings):
    """Returns everything as JSON, including single runs."""
    rows = [{**vars(result), "goals": [{**vars(goal), "verdict": goal.verdict} for goal in result.goals]} for result in results]
    return json.dumps({"date": time.strftime("%Y-%m-%d %H:%M"), "machine": description, "settings": settings, "rows": rows}, indent=1, ensure_ascii=False)
