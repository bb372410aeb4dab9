#!/usr/bin/env bash
# How fast logs are read, beside a floor that does the least:
#     bench/read.sh [csv|ndjson|nginx]...        default: all three
# Builds the bench preset, makes logs of five million lines under build/bench-logs (kept for the next time, 2 GB) and
# runs the floor and `overdue advise` on one thread and on two in turns, five times, so that the machine's drift falls
# on all alike. What it prints are medians of whole programs, and the largest peak of memory.
#     OVERDUE_BENCH_BUILD=DIR    another build folder of the bench preset, taken as it is
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kinds=("$@")
if [ ${#kinds[@]} -eq 0 ]; then kinds=(csv ndjson nginx); fi
for kind in "${kinds[@]}"; do
  case "$kind" in csv | ndjson | nginx) ;; *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
done
build=${OVERDUE_BENCH_BUILD:-build/bench}
if [ -z "${OVERDUE_BENCH_BUILD:-}" ]; then
  cmake --preset bench >/dev/null
  cmake --build "$build" --target overdue make_logs read_floor >/dev/null
fi
mkdir -p build/bench-logs
for kind in "${kinds[@]}"; do
  log=build/bench-logs/$kind.log
  if [ ! -e "$log" ]; then
    "$build/bench/make_logs" "$kind" 5000000 >"$log.part"
    mv "$log.part" "$log"
  fi
done
python3 - "$build" "${kinds[@]}" <<'PYTHON'
import os, statistics, sys, time

build, kinds = sys.argv[1], sys.argv[2:]
lines, rounds = 5_000_000, 5


def run(command):
    """Wall seconds, processor seconds and peak memory in MB of one run."""
    start = time.monotonic()
    child = os.posix_spawn(command[0], command, os.environ,
                           file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    wall = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) not in (0, 3):  # 3: read, and no advice follows from it.
        sys.exit(f"{' '.join(command)} failed")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


for kind in kinds:
    log = f"build/bench-logs/{kind}.log"
    overdue = f"{build}/overdue/overdue"
    commands = {
        "floor": [f"{build}/bench/read_floor", kind, log],
        "1 thread": [overdue, "advise", log, "--json", "--threads", "1"],
        "2 threads": [overdue, "advise", log, "--json", "--threads", "2"],
    }
    runs = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(run(command))
    megabytes = os.path.getsize(log) / 1e6
    print(f"{kind}: {lines:,} lines, {megabytes:,.0f} MB, medians of {rounds}")
    wall, cpu = {}, {}
    for name, seen in runs.items():
        wall[name] = statistics.median(each[0] for each in seen)
        cpu[name] = statistics.median(each[1] for each in seen)
        peak = max(each[2] for each in seen)
        print(f"  {name:9}  {wall[name]:.3f} s  {lines / wall[name] / 1e6:5.1f} M lines/s  "
              f"{megabytes / wall[name]:6,.0f} MB/s  processor {cpu[name]:.3f} s  peak {peak:.0f} MB")
    print(f"  1 thread takes {wall['1 thread'] / wall['floor']:.2f} times the floor's time, "
          f"{cpu['1 thread'] / cpu['floor']:.2f} of the processor's (bar 1.5, goal 1.25); "
          f"2 threads are {wall['1 thread'] / wall['2 threads']:.2f} times faster (bar 1.7)")
    if max(cpu[name] / wall[name] / (2 if name[0] == "2" else 1) for name in wall) < 0.9:
        print("  the machine was busy with something else: these times are not to be trusted")
PYTHON
