#!/bin/sh
# How scripts/device_check.sh behaves on a machine without a GPU: it says so, and its trainings and comparisons can be
# rehearsed on the CPU with the programs in RANKTUNE_BIN_DIR. Works on a copy of the scripts.
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
programs=${RANKTUNE_BIN_DIR:-$source/build/bin}
if [ ! -x "$programs/../libexec/ranktune-train" ]; then
  echo 'skipped: these programs were built without LibTorch'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
mkdir -p "$work/tree/tests" "$work/bin" "$work/stubs"
cp -r "$source/scripts" "$work/tree/scripts"
cp -r "$source/tests/fixtures" "$work/tree/tests/fixtures"

# stub FOLDER NAME: a program of the case's machine; its body comes from standard input.
stub() {
  { echo '#!/bin/sh'; cat; } >"$work/$1/$2"
  chmod +x "$work/$1/$2"
}

# check NAME WANTED_STATUS ARGUMENTS...: leaves $output.
check() {
  name=$1
  wanted=$2
  shift 2
  output=$(PATH=$work/stubs:$PATH "$work/tree/scripts/device_check.sh" "$@" 2>&1)
  status=$?
  [ "$status" -eq "$wanted" ] || complain "its status should be $wanted"
}

complain() {
  printf 'FAILED: %s: %s\n--- output, status %s:\n%s\n' "$name" "$1" "$status" "$output"
  failures=$((failures + 1))
}

says() {
  case $output in *"$1"*) ;; *) complain "it should have said '$1'" ;; esac
}

says_one_line() {
  [ "$(printf '%s\n' "$output" | wc -l)" -eq 1 ] || complain 'one line should do'
  says "$1"
}

echo 'exit 9' | stub stubs nvidia-smi
check 'no GPU' 0
says_one_line 'no GPU here'

echo 'echo "GPU 0: NVIDIA H200 (UUID: GPU-1)"' | stub stubs nvidia-smi
echo 'exit 1' | stub stubs python3
check 'a GPU, and a Python without torch' 1
says_one_line 'python3 has no torch'
rm "$work/stubs/python3"

echo 'exit 1' | stub stubs dpkg
check 'packing where the packages are missing' 1 --pack
says_one_line 'nlohmann-json3-dev libfmt-dev'

check 'an unknown flag' 2 --fast
says '--rehearse FOLDER'

check 'a rehearsal' 0 --rehearse "$programs"
says 'no GPU is used'
case $output in *FAILED*) complain 'no step should have failed' ;; esac
[ "$(printf '%s\n' "$output" | grep -c '^run *ok ')" -eq 7 ] || complain 'seven steps should have run'

# Two ranks that follow another seed: the comparison has to see it.
stub bin ranktune <<END
case "\$*" in *'nproc-per-node 2'*) set -- "\$@" --seed 7 ;; esac
exec "$programs/ranktune" "\$@"
END
check 'losses that differ' 1 --rehearse "$work/bin"
says 'run       FAILED   their losses are those of the one process'
[ "$(printf '%s\n' "$output" | grep -c FAILED)" -eq 1 ] || complain 'only one step should have failed'
grep -q '^step 1: loss ' "$work/tree/.deps/device_check.log" || complain 'the log should name the step'

[ "$failures" -eq 0 ] && echo 'all cases passed'
exit "$((failures > 0))"
