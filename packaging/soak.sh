#!/usr/bin/env bash
# What only much of it shows; part of `./test long`:
#   - every scenario on seeds nobody chose: the expectations hold. The first seed is drawn and printed; seeds that fail
#     belong into a test afterwards.
#   - a stream of a hundred million lines: the memory for reading it is no more than for a short one.
# OVERDUE_SOAK_SEED=N runs the seeds of an earlier soak again.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$here/packaging/setup.sh"
cd "$here"
build "$here" bench overdue
build "$here" bench make_logs
overdue=build/bench/overdue/overdue
first=${OVERDUE_SOAK_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "soak: seeds from OVERDUE_SOAK_SEED=$first"
"$overdue" simulate scenarios --seeds "$first..$((first + 199))" --summary
"$overdue" simulate scenarios/unknown --seeds "$first..$((first + 1999))" --summary | tail -n 4

python3 - <<'PYTHON'
import os, subprocess, sys

MOST_MB = 64


def peak_megabytes(lines):
    log = subprocess.Popen(["build/bench/bench/make_logs", "csv", str(lines)], stdout=subprocess.PIPE)
    reader = subprocess.Popen(["build/bench/overdue/overdue", "advise", "-", "--json"],
                              stdin=log.stdout, stdout=subprocess.DEVNULL)
    log.stdout.close()
    _, status, usage = os.wait4(reader.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3) or log.wait() != 0:
        sys.exit(f"soak: {lines:,} lines were not read")
    print(f"soak: {lines:,} lines, {usage.ru_maxrss / 1000:.0f} MB at most")
    return usage.ru_maxrss / 1000


if max(peak_megabytes(5_000_000), peak_megabytes(100_000_000)) > MOST_MB:
    sys.exit(f"soak: more than {MOST_MB} MB")
PYTHON
