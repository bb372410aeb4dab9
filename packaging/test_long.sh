#!/usr/bin/env bash
# The rest of `./test long`, after the sanitized build: clang-tidy and kill rounds, soaks, the thread sanitizer, fuzzing.
# OVERDUE_FUZZ_SECONDS (default 600) is per target.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$here/packaging/setup.sh"
cd "$here"
ctest --test-dir build/asan --output-on-failure --no-tests=error -j "$(nproc)" -L long </dev/null
"$here/packaging/soak.sh"
build "$here" tsan
ctest --test-dir build/tsan --output-on-failure --no-tests=error -j "$(nproc)" -LE long </dev/null
build "$here" fuzz
"$here/fuzz/run_all.sh" "${OVERDUE_FUZZ_SECONDS:-600}"
