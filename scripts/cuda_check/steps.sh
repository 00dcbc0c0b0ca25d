# What check_cuda_build.sh and device_check.sh share: a table of steps, and the description of a LibTorch with CUDA.
# shellcheck shell=sh disable=SC2154

failed=0

# row VERB RESULT WHAT: one line of the table, at once: what comes after it may be cut off.
row() {
  printf '%-9s %-8s %s\n' "$1" "$2" "$3"
}

# step VERB WHAT COMMAND...: one line of the table, by how the command ends; its output goes to $log.
step() {
  verb=$1
  what=$2
  shift 2
  printf '\n== %s\n' "$what" >>"$log"
  if "$@" >>"$log" 2>&1; then
    row "$verb" ok "$what"
  else
    row "$verb" FAILED "$what"
    failed=1
  fi
}

# verdict: exit code 1 where a step failed.
verdict() {
  [ "$failed" -eq 0 ] || die "failed; the output of the commands is in $log"
}

# describe_torch SITE RELEASE FOLDER [INCLUDE...]: a TorchConfig.cmake in FOLDER for the torch of a Python's SITE folder;
# CUDA's headers lie in wheels beside it, or else in the INCLUDE folders.
describe_torch() {
  site=$1
  short=$(printf '%s' "$2" | cut -d . -f 1-2)
  config=$3
  shift 3
  includes=
  for include in "$site/nvidia/cu13/include" "$site/nvidia/cu13/include/cccl" "$@"; do
    [ ! -d "$include" ] || includes="$includes \"$include\""
  done
  mkdir -p "$config"
  sed -e "s|@prefix@|$site/torch|" -e "s|@cuda_includes@|$includes|" scripts/cuda_check/TorchConfig.cmake.in \
    >"$config/TorchConfig.cmake"
  sed -e "s|@version@|$short|" scripts/setup/TorchConfigVersion.cmake.in >"$config/TorchConfigVersion.cmake"
}
