# Sourced by ./run and ./test: installs what packages.txt names and is missing, and builds.

# install_missing ROOT run|developer
install_missing() {
  local wanted missing=()
  if [ "$2" = developer ]; then
    wanted=$(sed -e '/^#/d;/^\[/d;/^$/d' "$1/packaging/packages.txt")
  else
    wanted=$(sed -e '/^\[developer\]/,$d' -e '/^#/d;/^$/d' "$1/packaging/packages.txt")
  fi
  local installed
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null | sed -n 's/ installed$//p') || true
  local package
  for package in $wanted; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return 0; fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  echo "installing: ${missing[*]}" >&2
  "${as_root[@]}" apt-get update -qq >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# build_release ROOT: quiet and quick when nothing changed.
build_release() {
  local binary="$1/build/release/overdue/overdue"
  if [ -x "$binary" ] && [ -z "$(find "$1/overdue" "$1/cmake" "$1/CMakeLists.txt" "$1/CMakePresets.json" -newer "$binary" -print -quit)" ]; then
    return 0
  fi
  install_missing "$1" run
  (
    cd "$1"
    cmake --preset release >/dev/null
    cmake --build --preset release --target overdue >&2
  )
  touch "$binary"
}
