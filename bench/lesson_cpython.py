#!/usr/bin/env python3
"""What `overdue lesson` does, in Python's own terms: the yardstick of bench/lesson.sh.

Takes the command's options of the same names and prints the same figures from the same draws, so that the
two can be compared both for speed and, with `diff`, for what they print.
"""

import argparse
import random

PERCENTS = (50, 90, 99, 99.9)


def rate(text):
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=7)
    for name, default in (("--lost-request", 0.002), ("--lost-reply", 0.002), ("--slow-path", 0.02)):
        parser.add_argument(name, type=rate, default=default)
    parser.add_argument("--slow-factor", type=float, default=8.0)
    for name, default in (("--sample", 50_000), ("--calls", 100_000), ("--replica-calls", 20_000)):
        parser.add_argument(name, type=int, default=default)
    return parser.parse_args()


class World:
    """A dependency whose calls are (applied, milliseconds until the reply or None)."""

    def __init__(self, given):
        self.draws = random.Random(given.seed)
        self.given = given

    def one_way(self):
        return self.draws.lognormvariate(0.0, 0.4)

    def work(self):
        if self.draws.random() < self.given.slow_path:
            return self.draws.uniform(40, 400)
        return self.draws.lognormvariate(2.0, 0.5)

    def call(self, factor=1.0):
        if self.draws.random() < self.given.lost_request:
            return False, None
        there = self.one_way()
        finished = there + self.work() * factor
        if self.draws.random() < self.given.lost_reply:
            return True, None
        return True, finished + self.one_way()


def at_percent(ordered, percent):
    return ordered[min(len(ordered) - 1, int(percent / 100 * len(ordered)))]


def replies_of(calls):
    return sorted(ms for _, ms in calls if ms is not None)


def shares(calls, timeout):
    ok = late = never = 0
    for applied, ms in calls:
        if ms is not None and ms <= timeout:
            ok += 1
        elif applied:
            late += 1
        else:
            never += 1
    return tuple(100 * part / len(calls) for part in (ok, late, never))


def main():
    given = options()
    world = World(given)
    ordered = replies_of([world.call() for _ in range(given.sample)])
    timeouts = [(percent, at_percent(ordered, percent)) for percent in PERCENTS]
    print("observed latency: " + "  ".join("p%s=%.1fms" % pair for pair in timeouts))

    traffic = [world.call() for _ in range(given.calls)]
    print("\n%16s %8s %20s %16s" % ("timeout", "ok", "timed out, applied", "timed out, not"))
    for percent, ms in timeouts:
        print("%16s %7.2f%% %19.2f%% %15.2f%%" % ("p%s (%.0fms)" % (percent, ms), *shares(traffic, ms)))
    print("the client sees the last two columns as the same error")

    print("\n%8s %6s %8s %20s" % ("replica", "ping", "median", "requests timed out"))
    for name in "abcd":
        factor = given.slow_factor if name == "d" else 1.0
        ping = "OK" if world.one_way() + world.one_way() < 50 else "FAIL"
        calls = [world.call(factor) for _ in range(given.replica_calls)]
        _, late, never = shares(calls, timeouts[-1][1])
        print("%8s %6s %6.1fms %19.2f%%" % (name, ping, at_percent(replies_of(calls), 50), late + never))


if __name__ == "__main__":
    main()
