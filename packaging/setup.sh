# Sourced by ./run and ./test: installs what packages.txt names and is missing, and builds. Nothing here reads
# standard input, which belongs to the command that is run.

# packages_of ROOT run|developer: the names in the list file, one a line.
packages_of() {
  local until_line='$'
  if [ "$2" = run ]; then until_line='/^\[developer\]/'; fi
  sed -n -e "1,${until_line}p" "$1/packaging/packages.txt" | sed -e '/^#/d;/^\[/d;/^$/d'
}

# install_missing ROOT run|developer
install_missing() {
  local wanted missing=()
  mapfile -t wanted < <(packages_of "$1" "$2")
  local installed
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/ installed$//p') || true
  local package
  for package in "${wanted[@]}"; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return 0; fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "missing packages: ${missing[*]}" >&2
      echo "install them as root (apt-get install), or install sudo" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "installing: ${missing[*]}" >&2
  "${as_root[@]}" apt-get update -qq </dev/null >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >&2
}

# configure ROOT PRESET: run in ROOT. A build folder that came from another place is configured afresh.
configure() {
  local fresh=()
  local cache="$1/build/$2/CMakeCache.txt"
  if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$1" "$cache"; then fresh=(--fresh); fi
  cmake --preset "$2" "${fresh[@]}" </dev/null >/dev/null
}

# build ROOT PRESET [TARGET]: two builds of one folder at a time would ruin each other, so they take turns.
build() {
  mkdir -p "$1/build"
  (
    cd "$1"
    flock 9
    configure "$1" "$2"
    cmake --build "build/$2" ${3:+--target "$3"} </dev/null >&2
  ) 9>"$1/build/$2.lock"
}

# build_release ROOT: quiet and quick when nothing changed.
build_release() {
  local binary="$1/build/release/overdue/overdue"
  local sources=("$1/overdue" "$1/cmake" "$1/CMakeLists.txt" "$1/CMakePresets.json" "$1/packaging/packages.txt")
  if [ -x "$binary" ] && [ -z "$(find "${sources[@]}" -newer "$binary" -print -quit)" ]; then return 0; fi
  install_missing "$1" run
  build "$1" release overdue
  touch "$binary"  # A change that needed no linking is built too.
}
