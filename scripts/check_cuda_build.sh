#!/bin/sh
# Compiles and links what needs CUDA and NCCL, on a machine that need not have a GPU, and says exactly what it did and
# what it did not. Not part of .ci/run: it fetches 3 GB, which become 5.5 on the disk.
#
#   scripts/check_cuda_build.sh
#
# Needs Linux on x86-64, Python 3.10 or later with pip, and what scripts/setup.sh installs. Exit code 1 when a step
# fails; a path that needs a GPU is listed as not run, which is no failure.
# shellcheck disable=SC1091,SC2034
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
release=2.14.1
site=$root/.deps/torch-$release-cuda
folder=$root/build/cuda
deps=$root/.deps
speaker=check_cuda_build
. scripts/setup/common.sh
. scripts/setup/download.sh
. scripts/cuda_check/steps.sh
log=$deps/check_cuda_build.log

fetch() {
  [ -d "$site" ] && return
  need_space 12000 "torch $release with CUDA"
  say "fetching torch $release with CUDA (3 GB)"
  rm -rf "$site.part"
  run_pip install --target "$site.part" "torch==$release" 'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-cccl==13.0.*' ||
    die_of_pip "torch $release with CUDA"
  put_in_place "$site.part" "$site"
}

configure() {
  describe_torch "$site" "$release" "$folder/torch"
  RANKTUNE_COMPILER_LAUNCHER=$(command -v ccache || true)
  export RANKTUNE_COMPILER_LAUNCHER
  cmake --preset release -B "$folder" -DTorch_DIR="$folder/torch" -DRANKTUNE_BUILD_BENCHMARKS=OFF >>"$log" 2>&1 ||
    die "CMake refuses: $(grep -A 2 'CMake Error' "$log" | tail -n 1) (its words: $log)"
  grep -q 'USE_C10D_NCCL' "$folder/build.ninja" || die "nccl.h was not found in $site: nothing would be checked"
}

targets() {
  cmake --build "$folder" --parallel 2 --target "$@"
}

doctor_knows_nccl() {
  "$folder/bin/ranktune" doctor --json | grep -A 3 '"backends"' | grep -q '"nccl"'
}

# Without a GPU a rank that asks for NCCL has to end with a line, not with a hang or an abort.
nccl_is_refused() {
  code=0
  timeout 60 "$folder/bin/ranktune" launch --nproc-per-node 2 "$folder/bin/ranktune" doctor --ddp_backend nccl || code=$?
  [ "$code" -eq 2 ]
}

tests_of_dist() {
  (cd "$folder/tests" && TORCH_CPP_LOG_LEVEL=ERROR timeout 600 ./dist_test)
}

main() {
  scripts/setup.sh
  . .deps/env.sh
  export CCACHE_SLOPPINESS=pch_defines,time_macros
  : >"$log"
  fetch
  configure
  printf 'LibTorch %s with CUDA, NCCL headers of its wheels\n\n' "$release"
  step compiled 'process groups with NCCL, DistributedDataParallel, collectives' targets ranktune_dist
  step linked 'examples ddp_minimal and all_reduce' targets ddp_minimal all_reduce
  step linked 'ranktune and ranktune-train' targets ranktune ranktune-train
  step linked 'the tests of process groups and gradients' targets dist_test
  if [ "$failed" -eq 0 ]; then
    step run 'the tests of process groups and gradients, Gloo, CPU' tests_of_dist
    step run 'doctor lists the back end nccl' doctor_knows_nccl
    step run 'ddp_minimal on two ranks, Gloo, CPU' "$folder/bin/ranktune" launch --nproc-per-node 2 "$folder/examples/ddp_minimal"
    step run 'two ranks that ask for NCCL without a GPU end with exit code 2' nccl_is_refused
  fi
  row 'not run' '' 'a collective over NCCL: needs a GPU'
  row 'not run' '' 'forward and backward passes on cuda:N: need a GPU'
  row 'not run' '' 'DataParallel over several GPUs: needs several'
  verdict
}

main "$@"
