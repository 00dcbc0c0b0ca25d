# Words and small tools that every part of scripts/setup.sh uses. Needs $root and $deps.
# shellcheck shell=sh disable=SC2034,SC2154

log=$deps/setup.log

say() {
  printf '%s: %s\n' "${speaker:-setup}" "$*" >&2
}

die() {
  say "$*"
  exit 1
}

# quote TEXT: TEXT as one word of a shell script.
quote() {
  printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

# A folder of this run's own under .deps, so that moving out of it is a rename. Removed whatever happens.
scratch=$deps/tmp.$$
clean_up() {
  rm -rf "$scratch"
}

new_scratch() {
  rm -rf "$scratch"
  mkdir -p "$scratch" 2>/dev/null || die "cannot write to $deps"
}

# put_in_place SOURCE TARGET: TARGET becomes SOURCE in one step; a TARGET that another run has just put there stays.
put_in_place() {
  mkdir -p "$(dirname "$2")"
  mv -T "$1" "$2" 2>/dev/null || [ -d "$2" ] || die "cannot write $2"
}

# need_space MEGABYTES WHAT
need_space() {
  free=$(df -Pk "$deps" | awk 'NR == 2 { print int($4 / 1024) }')
  [ "$free" -ge "$1" ] ||
    die "too little disk space for $2: $free MB are free where $root lies, $1 MB are needed"
}
