#!/usr/bin/env bash
# The rest of `./test long`: thread sanitizer, soaks and fuzzing. OVERDUE_FUZZ_SECONDS (default 600) is per target.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$here"
cmake --preset tsan >/dev/null
cmake --build --preset tsan
ctest --test-dir build/tsan --output-on-failure -j "$(nproc)" -LE long
ctest --test-dir build/asan --output-on-failure -j "$(nproc)" -L long --no-tests=ignore
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
"$here/fuzz/run_all.sh" "${OVERDUE_FUZZ_SECONDS:-600}"
