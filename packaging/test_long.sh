#!/usr/bin/env bash
# The rest of `./test long`, after the sanitized build: clang-tidy and kill rounds, soaks, the thread sanitizer, fuzzing.
# Each is run whatever became of those before it, and what failed is told at the end: it takes hours to come back here.
# OVERDUE_FUZZ_SECONDS (default 600) is per target.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$here/packaging/setup.sh"
cd "$here"
failed=()

tests() { ctest --test-dir "build/$1" --output-on-failure --no-tests=error -j "$(nproc)" "${@:2}" </dev/null; }

tests asan -L long || failed+=("clang-tidy or kill rounds")
packaging/soak.sh || failed+=("soak")
if build "$here" tsan; then
  tests tsan -LE long || failed+=("thread sanitizer")
else
  failed+=("thread sanitizer's build")
fi
if build "$here" fuzz; then
  fuzz/run_all.sh "${OVERDUE_FUZZ_SECONDS:-600}" || failed+=("fuzzing")
else
  failed+=("fuzzing's build")
fi

for one in "${failed[@]}"; do echo "./test long: $one failed, see above" >&2; done
[ ${#failed[@]} -eq 0 ]
