#!/bin/sh
# How much faster `overdue lesson` is than the same program under CPython: whole runs of the same work, taken in
# turns, and their medians. Two bars: the command with CPython's draws at least 10 times faster (goal 15), and --fast at
# least 100 times a call on one thread (goal 150).
#
#     bench/lesson.sh [OVERDUE] [ROUNDS]        default: build/release/overdue/overdue, 7 rounds
set -eu
here=$(dirname "$0")
overdue=${1:-$here/../build/release/overdue/overdue}
rounds=${2:-7}
python=${PYTHON:-python3}
many="--fast --threads 1 --sample 10000000 --calls 20000000 --replica-calls 2500000"
calls=230000
many_calls=40000000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$overdue" lesson > "$work/ours.txt"
"$python" "$here/lesson_cpython.py" > "$work/theirs.txt"
cmp "$work/ours.txt" "$work/theirs.txt"  # The same work, or the ratio means nothing.

# took NAME COMMAND...: appends the nanoseconds of one run.
took() {
  name=$1
  shift
  start=$(date +%s%N)
  "$@" > /dev/null
  echo $(($(date +%s%N) - start)) >> "$work/$name"
}
median() { sort -n "$work/$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

i=0
while [ "$i" -lt "$rounds" ]; do
  took cpython "$python" "$here/lesson_cpython.py"
  took exact "$overdue" lesson
  took fast "$overdue" lesson --fast --threads 1
  took many "$overdue" lesson $many
  i=$((i + 1))
done

"$python" --version
awk -v cpython="$(median cpython)" -v exact="$(median exact)" -v fast="$(median fast)" -v many="$(median many)" \
    -v calls=$calls -v many_calls=$many_calls 'BEGIN {
  printf "%-36s %9.1f ms %9.1f ns a call\n", "CPython, 230,000 calls", cpython / 1e6, cpython / calls
  printf "%-36s %9.1f ms %9.1f ns a call  %6.1f times faster (bar 10, goal 15)\n", "overdue lesson", exact / 1e6, exact / calls, cpython / exact
  printf "%-36s %9.1f ms %9.1f ns a call  %6.1f times faster\n", "--fast, the same calls, one thread", fast / 1e6, fast / calls, cpython / fast
  printf "%-36s %9.1f ms %9.1f ns a call  %6.1f times faster (bar 100, goal 150)\n", "--fast, 40,000,000 calls, one thread", many / 1e6, many / many_calls, (cpython / calls) / (many / many_calls)
}'
