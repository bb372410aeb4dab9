#!/usr/bin/env bash
# Tries the two commands where nothing is installed: a fresh Debian 12 root, a fresh clone of this tree's last commit in
# a folder with a space in its name.   packaging/try_empty_root.sh [--setup-only] [FOLDER]
# Needs root, debootstrap and git. FOLDER (default: one under $TMPDIR) must not exist; the root in it is removed at the end.
# --setup-only tries the installing and configuring, without the builds.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
setup_only=no
if [ "${1-}" = --setup-only ]; then setup_only=yes; shift; fi
if [ "$(id -u)" -ne 0 ]; then echo "try_empty_root.sh needs root" >&2; exit 2; fi
for command in debootstrap git unshare; do
  command -v "$command" >/dev/null || { echo "try_empty_root.sh needs $command" >&2; exit 2; }
done
if [ $# -gt 0 ]; then
  mkdir "$1"
  folder=$(cd -P "$1" && pwd)
else
  folder=$(mktemp -d)
fi
root="$folder/root"
# Mounts live in a mount namespace of their own and go with it, so nothing of the host can be under here.
trap 'rm -rf --one-file-system "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The mirror this machine uses itself.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
  grep -v '^#' | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ') || true
mirror=${mirror:-http://deb.debian.org/debian}
echo "== an empty Debian 12 root from $mirror"
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$folder/debootstrap.log" 2>&1 ||
  { tail -n 20 "$folder/debootstrap.log" >&2; exit 1; }
printf 'deb %s bookworm main\ndeb %s bookworm-updates main\n' "$mirror" "$mirror" >"$root/etc/apt/sources.list"
cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
cp -L /etc/hosts "$root/etc/hosts" 2>/dev/null || true
tree="/srv/a fresh clone"
git clone -q --no-hardlinks "$here" "$root$tree"

# inside SCRIPT: runs bash in the root, with /proc, as root.
inside() {
  unshare --mount --pid --fork --propagation private bash -c '
    mount -t proc proc "$0/proc"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 tree="$2" \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      chroot "$0" /bin/bash -euo pipefail -c "$1"' "$root" "$1" "$tree"
}

if [ "$setup_only" = yes ]; then
  echo "== installing and configuring only"
  inside '
    . "$tree/packaging/setup.sh"
    time install_missing "$tree" run
    cd "$tree" && configure "$tree" release && echo "release: configured"
    time install_missing "$tree" developer
    configure "$tree" asan && configure "$tree" tsan && configure "$tree" fuzz && echo "asan, tsan, fuzz: configured"
    time install_missing "$tree" developer' </dev/null
  exit 0
fi

echo "== ./run, without standard input, from another folder"
inside 'cd / && time "$tree/run" <&-'
echo "== ./run again: does not build, and starts in under a second"
inside '
  cd /tmp
  before=$(stat -c %Y "$tree/build/release/overdue/overdue")
  started=$(date +%s%N)
  "$tree/run" --version
  took=$((($(date +%s%N) - started) / 1000000))
  echo "second call: $took ms"
  [ "$before" = "$(stat -c %Y "$tree/build/release/overdue/overdue")" ] || { echo "it was built again" >&2; exit 1; }
  [ "$took" -lt 1000 ] || { echo "that is too slow" >&2; exit 1; }' </dev/null
echo "== ./test"
inside 'cd / && time "$tree/test"' </dev/null
echo "== done"
