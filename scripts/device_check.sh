#!/bin/sh
# What only a machine with a GPU can show, in under 8 minutes, from a copied working tree and without a network.
#
#   scripts/device_check.sh             builds on the torch of python3, trains on cuda:0 and compares
#   scripts/device_check.sh --pack      beforehand, on Debian: headers that the other machine may lack, into .deps/device,
#                                       which travels with the tree
#   scripts/device_check.sh --rehearse FOLDER
#                                       the same trainings and comparisons on the CPU, by the programs in FOLDER
#
# Needs a C++20 compiler, CMake, Ninja and a python3 that has torch with CUDA. Without a GPU it says so and ends with 0;
# exit code 1 when a step fails.
# shellcheck disable=SC1091,SC2034
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
deps=$root/.deps
speaker=device_check
. scripts/setup/common.sh
. scripts/cuda_check/steps.sh
folder=$root/build/device
carried=$deps/device
steps=50

usage() {
  sed -n -e '/^# shellcheck/q' -e '2,$s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

pack() {
  packages='nlohmann-json3-dev libfmt-dev'
  # shellcheck disable=SC2086  # two words
  files=$(dpkg -L $packages 2>/dev/null) || die "--pack copies what Debian's packages $packages hold: install them"
  rm -rf "$carried"
  mkdir -p "$carried"
  # The CMake files of fmt ask for its library, whose file belongs to a third package.
  for file in $files /usr/lib/*/libfmt.so.*; do
    case $file in
      */share/doc/*) ;;
      *) [ -d "$file" ] || cp -P --parents "$file" "$carried" ;;
    esac
  done
  say "packed: $(du -sk "$carried" | cut -f 1) KB in .deps/device"
}

gpu() {
  nvidia-smi -L 2>/dev/null | sed -n 's/^\(GPU 0: [^(]*[^ (]\).*/\1/p'
}

# Sets $site and $release. The package is looked up, not imported: that takes seconds.
find_torch() {
  found=$(python3 -c 'import importlib.metadata as m, importlib.util as u, pathlib
print(m.version("torch"), pathlib.Path(u.find_spec("torch").origin).parent.parent)' 2>/dev/null) ||
    die 'python3 has no torch: this script builds on the LibTorch inside it'
  release=${found%% *}
  site=${found#* }
  [ -e "$site/torch/lib/libtorch_cuda.so" ] || die "the torch $release of python3 has no CUDA"
}

need_header() {
  echo "#include <$1>" | "${CXX:-c++}" -std=c++20 -isystem "$carried/usr/include" -fsyntax-only -x c++ - 2>/dev/null ||
    die "the header $1 is missing: run 'scripts/device_check.sh --pack' on a machine that has it, and copy .deps/device"
}

configure() {
  need_header nlohmann/json.hpp
  need_header fmt/format.h
  toolkit=${CUDA_HOME:-/usr/local/cuda}
  describe_torch "$site" "$release" "$folder/torch" "$toolkit/include" "$toolkit/include/cccl"
  # A compiler that nobody has tried here may warn of other things.
  cmake --preset release -B "$folder" -DTorch_DIR="$folder/torch" -DCMAKE_PREFIX_PATH="$carried/usr" \
    -DRANKTUNE_WARNINGS_AS_ERRORS=OFF -DRANKTUNE_BUILD_TESTS=OFF -DRANKTUNE_BUILD_BENCHMARKS=OFF >>"$log" 2>&1 ||
    die "CMake refuses: $(grep -A 2 'CMake Error' "$log" | tail -n 1) (its words: $log)"
}

build() {
  timeout 240 cmake --build "$folder" --target ranktune ranktune-train ddp_minimal
}

# A small model with dropout on: the fixture's weights under a config of their own.
make_model() {
  mkdir -p "$work/model"
  cp tests/fixtures/tiny_bert/* "$work/model"
  sed -e 's/\("[a-z_]*dropout_prob"\): 0\.0/\1: 0.1/' tests/fixtures/training/config.json >"$work/model/config.json"
  [ "$(grep -c 'dropout_prob": 0.1' "$work/model/config.json")" -eq 2 ] || die 'the fixture has no dropout to switch on'
}

# train NAME RANKS [FLAG...]: 8 rows a step, into $work/NAME, a loss for each step. RANKS 0: one process, no launcher.
train() {
  output=$work/$1
  ranks=$2
  shift 2
  set -- "$programs/ranktune" train --model_name_or_path "$work/model" --do_train \
    --train_file tests/fixtures/training/train.csv --text_column_names sentence --max_steps "$steps" \
    --learning_rate 1e-2 --logging_steps 1 --save_strategy no --disable_tqdm --output_dir "$output" "$@"
  if [ "$ranks" -eq 0 ]; then
    set -- "$@" --local_rank -1 --per_device_train_batch_size 8
  else
    set -- "$programs/ranktune" launch --nproc-per-node "$ranks" "$@" --per_device_train_batch_size $((8 / ranks))
  fi
  timeout 30 "$@"
}

same_losses() {
  python3 scripts/cuda_check/compare_losses.py "$work/$1" "$work/$2" "$3" "$steps"
}

doctor_knows_the_gpu() {
  timeout 30 "$programs/ranktune" doctor --json >"$work/doctor.json" && cat "$work/doctor.json" &&
    python3 - "$work/doctor.json" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["device"]["name"] == "cuda:0", report["device"]
assert "nccl" in report["libtorch"]["backends"], report["libtorch"]
END
}

# Under a launcher the doctor's ranks meet, and add up tensors on their device.
nccl_adds_up() {
  timeout 30 "$programs/ranktune" launch --nproc-per-node 1 "$programs/ranktune" doctor --device cuda >"$work/nccl.txt" &&
    cat "$work/nccl.txt" && grep -q 'all-reduce *64 MiB' "$work/nccl.txt"
}

ddp_minimal() {
  timeout 30 "$programs/ranktune" launch --nproc-per-node 2 "$folder/examples/ddp_minimal"
}

# trainings DEVICE BACKEND [FLAG...]: the CPU is the judge; the flags place the others.
trainings() {
  device=$1
  backend=$2
  shift 2
  step run 'one process on the CPU' train cpu 0 --use_cpu
  step run "one process on $device" train alone 0 "$@"
  step run "its losses are those of the CPU within 1e-3, $steps steps, dropout on" same_losses alone cpu 1e-3
  step run "one rank in a group of $backend on $device" train rank 1 "$@"
  step run 'its losses are those of the one process' same_losses rank alone 2e-4
  step run "two ranks in a group of Gloo on $device" train ranks 2 --ddp_backend gloo "$@"
  step run 'their losses are those of the one process' same_losses ranks alone 2e-4
}

main() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$deps"
  log=$deps/device_check.log
  : >"$log"
  make_model
  if [ -n "$rehearsal" ]; then
    programs=$rehearsal
    printf 'A rehearsal on the CPU: no GPU is used\n\n'
    trainings 'the CPU' Gloo --use_cpu
    verdict
    return
  fi
  name=$(gpu)
  if [ -z "$name" ]; then
    say 'no GPU here (nvidia-smi lists none): nothing was checked'
    return
  fi
  find_torch
  programs=$folder/bin
  export CUDA_VISIBLE_DEVICES=0  # with several, local rank -1 would be all of them
  configure
  printf '%s, torch %s\n\n' "$name" "$release"
  step built 'ranktune, ranktune-train and the example ddp_minimal' build
  if [ "$failed" -eq 0 ]; then
    step run 'doctor lists the GPU and the back end nccl' doctor_knows_the_gpu
    step run 'one rank adds up 64 MiB on cuda:0 with NCCL' nccl_adds_up
    step run 'the example ddp_minimal on two ranks, Gloo, CPU' ddp_minimal
    trainings cuda:0 NCCL --device cuda
  fi
  verdict
}

rehearsal=
case ${1:-} in
  '') main ;;
  --pack) pack ;;
  --rehearse)
    [ $# -eq 2 ] || usage
    rehearsal=$(cd "$2" && pwd)
    main
    ;;
  *) usage ;;
esac
