# System packages: which are missing, and apt-get for those. Debian 12 and 13, and what is like them.
# shellcheck shell=sh disable=SC2154,SC2086

# is_here PROBE: PROBE is a command, a header below an include folder (has a slash), or a file (starts with one).
is_here() {
  case $1 in
    /*) [ -e "$1" ] ;;
    pip) python3 -c 'import pip' >/dev/null 2>&1 ;;
    venv) python3 -c 'import ensurepip' >/dev/null 2>&1 ;;
    c++) command -v "${CXX:-c++}" >/dev/null 2>&1 ;;
    */*)
      old_ifs=$IFS
      IFS=:
      for prefix in ${CMAKE_PREFIX_PATH:-} /usr /usr/local; do
        if [ -e "$prefix/include/$1" ]; then
          IFS=$old_ifs
          return 0
        fi
      done
      IFS=$old_ifs
      return 1
      ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

# ensure_packages PACKAGE=PROBE...: installs each package whose probe is not here.
ensure_packages() {
  missing=
  for entry; do
    is_here "${entry#*=}" || missing="$missing ${entry%%=*}"
  done
  missing=${missing# }
  [ -n "$missing" ] || return 0

  command -v apt-get >/dev/null 2>&1 ||
    die "missing, by their Debian names: $missing; install them with this system's package manager and try again"
  if [ "$(id -u)" = 0 ]; then
    as_root=
  elif sudo -n true >/dev/null 2>&1; then
    as_root='sudo -n'
  else
    die "system packages are missing and installing them needs root; run this once: sudo apt-get install -y $missing"
  fi
  say "installing with apt-get: $missing"
  : >"$log"
  # The lists of a fresh machine are empty, those of an old one stale: the first try shows whether they serve.
  apt_get install || { apt_get update && apt_get install; } || die_of_apt
}

apt_get() {
  case $1 in
    install) set -- install -y --no-install-recommends $missing ;;
  esac
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1
}

die_of_apt() {
  reason=$(grep '^E: ' "$log" | tail -n 1)
  if grep -qE 'resolv|connect|Failed to fetch|Network is unreachable' "$log"; then
    reason="no network? ${reason:-the package lists cannot be fetched}"
  fi
  die "apt-get cannot install $missing (${reason:-see $log})"
}
