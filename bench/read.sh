#!/usr/bin/env bash
# How fast logs are read, beside a floor that does the least: bench/read.sh [LINES] [ROUNDS]
# Builds the bench preset, makes the logs under build/bench-logs, and runs floor and `overdue advise` in turns (the
# machine's drift then falls on all alike). Times are the best round's, of the whole program; memory is the peak.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
lines=${1:-5000000}
rounds=${2:-5}
cd "$here"
cmake --preset bench >/dev/null
cmake --build --preset bench --target overdue make_logs read_floor >/dev/null
bin=build/bench/bench
logs=build/bench-logs
mkdir -p "$logs"
python3 - "$lines" "$rounds" "$bin" "$logs" build/bench/overdue/overdue <<'PYTHON'
import os, subprocess, sys, time

lines, rounds, bin_dir, logs, overdue = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]


def run(command):
    """Wall seconds, processor seconds and peak memory in MB of one run."""
    start = time.monotonic()
    child = os.posix_spawn(command[0], command, os.environ,
                           file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    wall = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit(f"{' '.join(command)} failed")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


for kind in ("csv", "nginx", "ndjson"):
    path = f"{logs}/{kind}-{lines}.log"
    if not os.path.exists(path):
        with open(path + ".part", "wb") as out:
            subprocess.run([f"{bin_dir}/make_logs", kind, lines], stdout=out, check=True)
        os.rename(path + ".part", path)
    commands = {
        "floor": [f"{bin_dir}/read_floor", kind, path],
        "one": [overdue, "advise", "--threads", "1", "--json", path],
        "two": [overdue, "advise", "--threads", "2", "--json", path],
    }
    best = {}
    for _ in range(rounds):
        for name, command in commands.items():
            wall, cpu, memory = run(command)
            seen = best.get(name, (1e9, 1e9, 0))
            best[name] = (min(wall, seen[0]), min(cpu, seen[1]), max(memory, seen[2]))
    megabytes = os.path.getsize(path) / 1e6
    floor, one, two = best["floor"], best["one"], best["two"]
    print(f"{kind}: {lines} lines, {megabytes:.0f} MB")
    for name, (wall, cpu, memory) in best.items():
        print(f"  {name:5}  {wall:.3f} s  processor {cpu:.3f} s  {megabytes / wall:.0f} MB/s  "
              f"{int(lines) / wall / 1e6:.1f} M lines/s  peak {memory:.0f} MB")
    print(f"  one thread {one[0] / floor[0]:.2f} times the floor (bar 1.5), processor {one[1] / floor[1]:.2f}; "
          f"two threads {one[0] / two[0]:.2f} times faster (bar 1.7)")
PYTHON
