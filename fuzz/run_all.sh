#!/usr/bin/env bash
# Runs every fuzz target for SECONDS each (default 600), two at a time, from its seeds in fuzz/corpus/TARGET.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
seconds=${1:-600}
fuzz_one() {
  local target=$1 name
  name=$(basename "$target")
  mkdir -p "$here/build/fuzz/found/$name"
  "$target" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$here/build/fuzz/found/$name-" "$here/build/fuzz/found/$name" "$here/fuzz/corpus/$name" \
    >"$here/build/fuzz/$name.log" 2>&1 || { echo "$name FAILED, see build/fuzz/$name.log"; tail -30 "$here/build/fuzz/$name.log"; return 1; }
  echo "$name: $(grep stat::number_of_executed_units "$here/build/fuzz/$name.log" | grep -o '[0-9]*$') inputs, clean"
}
export -f fuzz_one
export here seconds
find "$here/build/fuzz/fuzz" -maxdepth 1 -name '*_fuzz' -print0 | sort -z | xargs -0 -n1 -P2 bash -c 'fuzz_one "$0"'
