#!/usr/bin/env bash
# How the sources look:  packaging/check_style.sh format|tidy|changed|all
#   format   clang-format finds nothing to change in any source (seconds; part of ./test)
#   tidy     clang-tidy is clean on every source of build/asan (many minutes; part of ./test long)
#   changed  both, tidy only on sources that differ from the last commit, or from COMMIT if one is given after it
#   all      format and tidy
# OVERDUE_TIDY_BUILD names another build folder than build/asan to take the compiler's flags from.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$here"
tidy_build=${OVERDUE_TIDY_BUILD:-build/asan}
database=$tidy_build/compile_commands.json

# Tracked sources; where this is no git work tree, all of them. NUL-separated.
sources() {
  if [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$here" ]; then
    git ls-files -z -- '*.cc' '*.h' | xargs -0 -r ls -d --zero 2>/dev/null || true
  else
    find overdue tests bench fuzz \( -name '*.cc' -o -name '*.h' \) -print0
  fi
}

check_format() {
  local count
  count=$(sources | tr -cd '\0' | wc -c)
  if [ "$count" -eq 0 ]; then echo "no sources found" >&2; return 1; fi
  sources | xargs -0 clang-format-19 --dry-run -Werror
  echo "clang-format: $count files, nothing to change"
}

# In tests the path-sensitive analyzer takes most of the time on GoogleTest's macros and finds nothing there.
tidy_one() {
  local checks=()
  case "$1" in *_test.cc) checks=(--checks=-clang-analyzer-*) ;; esac
  clang-tidy-19 -p "$tidy_build" --quiet "${checks[@]}" "$1"
}
export -f tidy_one
export tidy_build

# Reads NUL-separated source names; headers are seen through the sources that include them.
check_tidy() {
  if [ ! -f "$database" ]; then echo "$database is missing: run ./test first" >&2; return 1; fi
  local list
  list=$(mktemp)
  grep -z '\.cc$' | while IFS= read -r -d '' file; do
    if grep -qF "\"$here/$file\"" "$database"; then printf '%s\0' "$file"; fi
  done >"$list"
  local count
  count=$(tr -cd '\0' <"$list" | wc -c)
  local status=0
  # Findings go to standard output; standard error counts the suppressed ones, and says so where tidy itself fails.
  xargs -0 -r -n 1 -P 2 bash -c 'tidy_one "$0"' <"$list" 2>"$list.errors" || status=1
  if [ $status -ne 0 ]; then
    grep -v 'warnings\? generated' "$list.errors" >&2 || true
    echo "clang-tidy: see above" >&2
  fi
  rm -f "$list" "$list.errors"
  if [ $status -ne 0 ]; then return 1; fi
  echo "clang-tidy: $count sources, clean"
}

case "${1-}" in
  format) check_format ;;
  tidy) sources | check_tidy ;;
  changed)
    check_format
    git diff --name-only -z --diff-filter=d "${2:-HEAD}" -- '*.cc' | check_tidy
    ;;
  all)
    check_format
    sources | check_tidy
    ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
