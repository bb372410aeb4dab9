"""Joins the ledgers of the upstreams and the callers into the one summary that is kept beside the log."""
import argparse
import json

THRESHOLDS_MS = list(range(5, 100, 1)) + list(range(100, 1000, 5)) + list(range(1000, 10001, 100))
QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 0.9999)


def nearest_rank(ordered, quantile):
    """The value at 1-based rank ceil(quantile * count); the quantile is a decimal, so the rank is exact integers."""
    parts = round(quantile * 10**6)
    return ordered[max(1, -(-parts * len(ordered) // 10**6)) - 1]


def later_than(ordered, thresholds):
    """For each threshold, how many values are greater."""
    counts = []
    index = 0
    for threshold in thresholds:
        while index < len(ordered) and ordered[index] <= threshold:
            index += 1
        counts.append(len(ordered) - index)
    return counts


def summary_of(ledger):
    rows = ledger["rows"]
    kinds = {kind: sum(1 for row in rows if row[1] == kind) for kind in ("replied", "never_done", "done_never_replied", "reset")}
    ready = sorted(row[4] for row in rows if row[4] is not None)
    planned = sorted(row[3] for row in rows if row[1] == "replied")
    return {
        "backend": ledger["backend"],
        "slow_factor": ledger["slow_factor"],
        "seed": ledger["seed"],
        "pings_answered": ledger["pings"],
        "received": len(rows),
        "effects": sum(1 for row in rows if row[2]),
        "reply_ready": kinds["replied"],
        "reply_ready_within_1s": sum(1 for value in ready if value <= 1000.0),
        "reply_ready_later": sum(1 for value in ready if value > 1000.0),
        "reply_ready_but_nobody_listened": sum(1 for row in rows if row[1] == "replied" and not row[5]),
        "never_done": kinds["never_done"],
        "done_never_replied": kinds["done_never_replied"],
        "reset_before_work": kinds["reset"],
        "reply_ready_ms": {str(q): round(nearest_rank(ready, q), 3) for q in QUANTILES},
        "planned_ms": {str(q): round(nearest_rank(planned, q), 3) for q in QUANTILES},
        "reply_ready_later_than": later_than(ready, THRESHOLDS_MS),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--callers", required=True)
    parser.add_argument("--upstream", action="append", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    with open(options.callers, encoding="utf-8") as text:
        callers = json.load(text)
    for ping in callers["pings"].values():
        ping["slowest_ms"] = round(ping["slowest_ms"], 1)
    upstreams = []
    for path in options.upstream:
        with open(path, encoding="utf-8") as text:
            upstreams.append(summary_of(json.load(text)))
    summary = {"schema": "overdue.example-ledger/1", "callers": callers, "thresholds_ms": THRESHOLDS_MS, "upstreams": upstreams}
    lines = json.dumps(summary, indent=1)
    # One line a list: the file is read by people too.
    compact = []
    depth = 0
    for line in lines.split("\n"):
        text = line.strip()
        if depth:
            compact[-1] += text if text.startswith("]") else text + (" " if text.endswith(",") else "")
            depth -= text.startswith("]")
        else:
            compact.append(line)
            depth += text.endswith("[") and not text.startswith('"upstreams"')
    with open(options.out, "w", encoding="utf-8") as out:
        out.write("\n".join(compact) + "\n")
    assert json.loads("\n".join(compact)) == json.loads(json.dumps(summary))


if __name__ == "__main__":
    main()
