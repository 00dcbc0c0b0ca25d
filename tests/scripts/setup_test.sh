#!/bin/sh
# How scripts/setup.sh behaves where things are missing. Each case works on a copy of the scripts in a folder of its
# own, with a PATH that holds only what the case says is installed; nothing outside is read, installed or fetched.
# shellcheck disable=SC2016
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
unset Torch_DIR CMAKE_PREFIX_PATH CXX
export PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 PIP_FIND_LINKS="$work/wheels" PIP_DISABLE_PIP_VERSION_CHECK=1
unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CONSTRAINT

real_python=$(python3 -c 'import sys; print(sys.executable)')
if ! "$real_python" -m pip --version >/dev/null 2>&1; then
  echo 'skipped: python3 has no pip'
  exit 77
fi

# stub NAME: a program of the case's machine; its body comes from standard input.
stub() {
  { echo '#!/bin/sh'; cat; } >"$machine/bin/$1"
  chmod +x "$machine/bin/$1"
}

# begin NAME: a machine that has everything but LibTorch.
begin() {
  name=$1
  machine=$work/$(printf '%s' "$name" | tr -c 'a-z0-9\n' _)
  mkdir -p "$machine/bin" "$machine/usr/include"
  cp -r "$source/scripts" "$machine/scripts"
  for tool in sh env dirname mkdir rm rmdir mv cp cat sed grep head tail awk find cmp id tr uname df touch; do
    ln -s "$(command -v "$tool")" "$machine/bin/$tool"
  done
  for header in nlohmann/json.hpp fmt/format.h gtest/gtest.h gmock/gmock.h benchmark/benchmark.h; do
    mkdir -p "$machine/usr/include/${header%/*}"
    touch "$machine/usr/include/$header"
  done
  prefixes=$machine/usr
  for tool in ninja ccache; do echo 'exit 0' | stub $tool; done
  echo 'echo "cmake version 3.25.1"' | stub cmake
  echo 'exit 0' | stub c++
  echo 'echo "apt-get must not be called: $*" >&2; exit 1' | stub apt-get
  echo 'exit 1' | stub sudo
  # Whether this machine's own Python has torch is not the case's business.
  printf 'case "$*" in *find_spec*) exit 0 ;; esac\nexec "%s" "$@"\n' "$real_python" | stub python3
}

# setup ARGUMENTS...: runs the copy; leaves $status and $output.
setup() {
  output=$(PATH=$machine/bin CMAKE_PREFIX_PATH=$prefixes CUDA_HOME=/nonexistent "$machine/scripts/setup.sh" "$@" 2>&1)
  status=$?
}

complain() {
  printf 'FAILED: %s: %s\n--- output, status %s:\n%s\n' "$name" "$1" "$status" "$output"
  failures=$((failures + 1))
}

# fails_with TEXT...: a last line that has each TEXT in it, other programs' words nowhere, a status other than 0, and
# nothing half-made.
fails_with() {
  [ "$status" -ne 0 ] || complain 'it should have failed'
  [ "$(printf '%s\n' "$output" | grep -vc '^setup: ')" -eq 0 ] || complain 'it let another program speak'
  last=$(printf '%s\n' "$output" | tail -n 1)
  for text; do
    case $last in *"$text"*) ;; *) complain "its line should say '$text'" ;; esac
  done
  [ ! -e "$machine/.deps/env.sh" ] || complain 'it should not have left a result'
  [ -z "$(find "$machine/.deps" -name 'tmp.*' -o -name 'torch-*' 2>/dev/null)" ] || complain 'it left something half-made'
}

succeeds() {
  [ "$status" -eq 0 ] || complain 'it should have succeeded'
  [ -z "$(find "$machine/.deps" -name 'tmp.*')" ] || complain 'it left scratch files'
}

says() {
  case $output in *"$1"*) ;; *) complain "it should have said '$1'" ;; esac
}

# uses FOLDER: that LibTorch was chosen.
uses() {
  grep -qF "RANKTUNE_TORCH_DIR='$1'" "$machine/.deps/env.sh" || complain "it should have chosen $1"
}

# make_torch FOLDER VERSION: what looks like LibTorch from outside.
make_torch() {
  mkdir -p "$1/share/cmake/Torch" "$1/lib" "$1/include"
  echo 'set(TORCH_LIBRARIES x)' >"$1/share/cmake/Torch/TorchConfig.cmake"
  echo "set(PACKAGE_VERSION \"$2\")" >"$1/share/cmake/Torch/TorchConfigVersion.cmake"
}

# make_wheel NAME VERSION TAG FOLDER: a wheel with FOLDER's content, for pip to find.
make_wheel() {
  mkdir -p "$work/wheels"
  "$real_python" - "$@" "$work/wheels" <<'END'
import pathlib, sys, zipfile
name, version, tag, folder, target = sys.argv[1:]
info = f"{name}-{version}.dist-info"
with zipfile.ZipFile(f"{target}/{name}-{version}-{tag}.whl", "w") as wheel:
    for path in pathlib.Path(folder).rglob("*"):
        wheel.write(path, path.relative_to(folder))
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n")
    wheel.writestr(f"{info}/RECORD", "")
END
}
torch_tag=cp311-cp311-manylinux_2_28_x86_64

begin 'unknown part'
setup walls
fails_with "unknown part 'walls'"

begin 'a package is missing and we are not root'
rm "$machine/bin/ninja" "$machine/bin/id"
echo 'echo 1000' | stub id
setup
fails_with 'root' 'sudo apt-get install -y ninja-build'

begin 'a package is missing and there is no apt-get'
rm "$machine/bin/ninja" "$machine/bin/apt-get"
setup
fails_with 'missing, by their Debian names: ninja-build'

begin 'apt-get cannot reach anything'
rm "$machine/bin/ninja" "$machine/bin/id"
echo 'echo 0' | stub id
echo 'echo "$*" >>"'"$machine"'/apt_calls"; echo "E: Failed to fetch x  Could not resolve host"; exit 100' | stub apt-get
setup
fails_with 'ninja-build' 'no network?' 'Failed to fetch'
[ "$(grep -c install "$machine/apt_calls")" -eq 1 ] || complain 'it should not install from lists that it cannot update'

begin 'a missing package is installed, from fresh lists'
rm "$machine/bin/ninja" "$machine/bin/id"
echo 'echo 0' | stub id
make_torch "$machine/usr" 2.6.0
stub apt-get <<END
case "\$*" in
  *update*) touch "$machine/updated" ;;
  *install*ninja-build*) [ -e "$machine/updated" ] && cp "$machine/bin/ccache" "$machine/bin/ninja" ;;
esac
END
setup
succeeds
uses "$machine/usr/share/cmake/Torch"

begin 'the compiler does not work'
echo 'exit 1' | stub c++
setup
fails_with 'no working C++20 compiler'

begin 'CMake is too old'
echo 'echo "cmake version 3.18.4"' | stub cmake
setup
fails_with 'CMake 3.18.4 is too old'

begin 'Torch_DIR names no LibTorch'
export Torch_DIR="$machine/nowhere"
setup
fails_with "Torch_DIR is $machine/nowhere" 'no TorchConfig.cmake'
unset Torch_DIR

begin 'Torch_DIR names an old LibTorch'
make_torch "$machine/torch" 1.13.1
export Torch_DIR="$machine/torch/share/cmake/Torch"
setup
fails_with 'it is torch 1.13' '2.6'
unset Torch_DIR

begin 'Torch_DIR comes before CMAKE_PREFIX_PATH'
make_torch "$machine/usr" 2.8.0
make_torch "$machine/torch" 2.13.0
export Torch_DIR="$machine/torch/share/cmake/Torch"
setup
succeeds
uses "$Torch_DIR"
unset Torch_DIR
setup
uses "$machine/usr/share/cmake/Torch"

begin 'a second run does nothing and says nothing'
make_torch "$machine/usr" 2.8.0
setup
succeeds
for tool in c++ cmake ninja python3; do echo 'echo called; exit 1' | stub $tool; done
setup
succeeds
[ -z "$output" ] || complain 'it should have said nothing'

begin 'an old torch in CMAKE_PREFIX_PATH, a good one in Python'
make_torch "$machine/usr" 2.5.1
make_torch "$machine/site/torch" 2.10.2
printf 'case "$*" in *find_spec*) echo "%s" ;; esac\n' "$machine/site/torch" | stub python3
setup
succeeds
says 'it is torch 2.5'
uses "$machine/site/torch/share/cmake/Torch"

begin 'a torch with the old C++ ABI is not used'
make_torch "$machine/usr" 2.6.0
echo 'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=0")' >>"$machine/usr/share/cmake/Torch/TorchConfig.cmake"
rm "$machine/bin/uname"
echo 'case $1 in -s) echo Linux ;; *) echo aarch64 ;; esac' | stub uname
setup
says 'the old C++ ABI'
says 'no LibTorch to fetch for Linux on aarch64'
[ "$status" -ne 0 ] || complain 'it should have failed'

begin 'launchers are missing and we are not root'
rm "$machine/bin/id"
echo 'echo 1000' | stub id
setup launchers
fails_with 'root' 'sudo apt-get install -y openmpi-bin mpich'

begin 'launchers that are all here are not installed again'
for tool in mpirun.openmpi mpirun.mpich srun sbatch slurmctld slurmd munged ip; do echo 'exit 0' | stub $tool; done
mkdir -p "$machine/.deps/sagemaker"
cp "$machine/scripts/sagemaker_requirements.txt" "$machine/.deps/sagemaker/requirements.txt"
setup launchers
succeeds
[ -z "$output" ] || complain 'it should have said nothing'

# From here on LibTorch is fetched, which is done on x86-64 Linux only.
if [ "$(uname -s) $(uname -m)" != 'Linux x86_64' ]; then
  echo "the fetching of LibTorch is not tested on $(uname -s) $(uname -m)"
  exit "$((failures > 0))"
fi

begin 'too little disk space'
rm "$machine/bin/df"
printf 'echo Filesystem 1024-blocks Used Available Capacity Mounted on\necho x 9000000 1 1234567 1%% /\n' | stub df
setup
fails_with 'too little disk space' '1205 MB are free' '4000 MB are needed'

begin 'no network'
PIP_NO_INDEX='' PIP_FIND_LINKS='' PIP_INDEX_URL=http://127.0.0.1:9/ setup
fails_with 'no network' 'torch 2.13.0'

begin 'the index does not offer the release'
mkdir -p "$work/wheels"
setup
fails_with 'pip cannot fetch torch 2.13.0' 'No matching distribution'

begin 'a damaged wheel'
mkdir -p "$work/wheels"
echo 'not a zip file' >"$work/wheels/torch-2.13.0+cpu-$torch_tag.whl"
setup
fails_with 'torch 2.13.0'

begin 'the CPU wheel is fetched'
make_torch "$work/cpu/torch" 2.13.0
make_wheel torch 2.13.0+cpu "$torch_tag" "$work/cpu"
setup
succeeds
uses "$machine/.deps/torch-2.13.0/torch/share/cmake/Torch"
case $output in *CUDA*) complain 'it should not have spoken of CUDA' ;; esac

begin 'a result whose LibTorch is gone is made anew'
setup
rm -rf "$machine/.deps/torch-2.13.0"
setup
succeeds
[ -d "$machine/.deps/torch-2.13.0/torch" ] || complain 'it should have fetched LibTorch again'
rm "$work/wheels/"*

begin 'only a CUDA wheel is offered'
make_torch "$work/cuda/torch" 2.13.0
touch "$work/cuda/torch/lib/libtorch_cuda.so" "$work/cuda/torch/lib/libtorch_cpu.so"
make_wheel torch 2.13.0 "$torch_tag" "$work/cuda"
make_wheel cuda_toolkit 13.0.3.0 py2.py3-none-any "$work/wheels"
setup
succeeds
says 'only a CUDA build of torch 2.13.0 is offered: 1 MB to fetch'
says 'built for the CPU'
uses "$machine/.deps/libtorch_cpu"
grep -qF "\"$machine/.deps/torch-2.13.0/torch\"" "$machine/.deps/libtorch_cpu/TorchConfig.cmake" ||
  complain 'the CPU half should be that of the fetched build'

[ "$failures" -eq 0 ] && echo 'all cases passed'
exit "$((failures > 0))"
