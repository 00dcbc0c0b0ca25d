# LibTorch: one that is already here, or else the CPython 3.11 wheel of torch, unpacked into .deps. No Python ever
# imports that one, so the system's own Python does not matter.
# shellcheck shell=sh disable=SC2154

torch_release=2.13.0
fetched_torch=$deps/torch-$torch_release

# find_libtorch: sets $torch_dir to the folder of a TorchConfig.cmake.
find_libtorch() {
  if [ -n "${Torch_DIR:-}" ]; then
    usable_torch "$Torch_DIR" || die "Torch_DIR is $Torch_DIR, but $why; set it to a LibTorch of 2.6 or later, or unset it"
    return
  fi
  torch_in_prefix_path || torch_of_python || usable_torch "$fetched_torch/torch/share/cmake/Torch" || fetch_torch
  say "LibTorch: $torch_dir"
}

# usable_torch FOLDER: FOLDER describes a LibTorch that ranktune can be built on; sets $torch_dir and $libtorch, or else
# $why not.
usable_torch() {
  if [ ! -f "$1/TorchConfig.cmake" ]; then
    why="it has no TorchConfig.cmake"
    return 1
  fi
  version=$(sed -n 's/^set(PACKAGE_VERSION "\([0-9]*\.[0-9]*\).*/\1/p' "$1/TorchConfigVersion.cmake" 2>/dev/null)
  minor=${version#*.}
  if [ -z "$version" ] || [ "$((${version%%.*} * 1000 + minor))" -lt 2006 ]; then
    why="it is torch ${version:-of an unknown release}"
    return 1
  fi
  if grep -q 'GLIBCXX_USE_CXX11_ABI=0' "$1/TorchConfig.cmake"; then
    why="it was built with the old C++ ABI"
    return 1
  fi
  torch_dir=$1
  libtorch=${1%/share/cmake/Torch}
  if [ -e "$libtorch/lib/libtorch_cuda.so" ] && ! cuda_toolkit_is_here; then
    use_cpu_half "$libtorch"
  fi
}

cuda_toolkit_is_here() {
  command -v nvcc >/dev/null 2>&1 || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]
}

# use_cpu_half LIBTORCH: a CUDA build asks for the whole CUDA toolkit when a program is built on it. Its CPU half works
# alone, once the two small libraries that it loads are there (a Python torch has them beside it).
use_cpu_half() {
  say "a CUDA build of LibTorch without the CUDA toolkit (nvcc): ranktune is built for the CPU"
  torch_dir=$deps/libtorch_cpu
  mkdir -p "$torch_dir"
  for file in TorchConfig.cmake TorchConfigVersion.cmake; do
    sed -e "s|@prefix@|$1|" -e "s|@version@|$version|" "$parts/$file.in" >"$torch_dir/$file"
  done
}

torch_in_prefix_path() {
  old_ifs=$IFS
  IFS=':;'
  for prefix in ${CMAKE_PREFIX_PATH:-}; do
    for folder in "$prefix/share/cmake/Torch" "$prefix/Torch" "$prefix"; do
      [ -f "$folder/TorchConfig.cmake" ] || continue
      IFS=$old_ifs
      if usable_torch "$folder"; then
        return 0
      fi
      say "not used: $folder ($why)"
      IFS=':;'
    done
  done
  IFS=$old_ifs
  return 1
}

# The package is looked up, not imported: that would take seconds.
torch_of_python() {
  folder=$(python3 -c 'import importlib.util as u
s = u.find_spec("torch")
print(s.submodule_search_locations[0] if s and s.submodule_search_locations else "")' 2>/dev/null) || return 1
  [ -n "$folder" ] || return 1
  if usable_torch "$folder/share/cmake/Torch"; then
    return 0
  fi
  say "not used: the torch of python3 in $folder ($why)"
  return 1
}

fetch_torch() {
  [ "$(uname -s) $(uname -m)" = 'Linux x86_64' ] ||
    die "there is no LibTorch to fetch for $(uname -s) on $(uname -m): install one and set Torch_DIR to its share/cmake/Torch"
  ensure_packages python3-pip=pip ca-certificates=/etc/ssl/certs/ca-certificates.crt
  need_space 4000 'LibTorch and a build'
  new_scratch
  choose_wheel
  say "fetching $wheel_name ($wheel_mb MB)"
  fetch_package "torch==$torch_release" --python-version 3.11 --platform manylinux_2_28_x86_64 --only-binary=:all:
  unpack_wheel "$scratch/torch"
  if [ -e "$scratch/torch/torch/lib/libtorch_cuda.so" ] && ! cuda_toolkit_is_here; then
    fetch_cuda_runtime
  fi
  put_in_place "$scratch/torch" "$fetched_torch"
  usable_torch "$fetched_torch/torch/share/cmake/Torch" || die "the wheel $wheel_name is of no use: $why"
}

# The two libraries that the CPU half of the CUDA wheel loads; it looks for them in a folder beside its own.
fetch_cuda_runtime() {
  : >"$log"
  run_pip download --dest "$scratch/download" --python-version 3.11 --only-binary=:all: \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 --platform manylinux2014_x86_64 \
    'cuda-toolkit[cudart,cupti]==13.0.3' || die_of_pip 'the CUDA runtime'
  for wheel in "$scratch"/download/*.whl; do
    python3 -m zipfile -e "$wheel" "$scratch/torch" >>"$log" 2>&1 || die "cannot unpack $wheel: $(tail -n 1 "$log")"
  done
}

# choose_wheel: asks the index which file it would give, before anything large comes down the line.
choose_wheel() {
  : >"$log"
  run_pip install --dry-run --ignore-installed --no-deps --target "$scratch/unused" --report "$scratch/report.json" \
    --python-version 3.11 --platform manylinux_2_28_x86_64 --only-binary=:all: "torch==$torch_release" ||
    die_of_pip "torch $torch_release"
  wheel=$(python3 "$parts/wheel_info.py" "$scratch/report.json") || die "cannot read pip's report: $scratch/report.json"
  wheel_name=${wheel#* }
  wheel_mb=${wheel%% *}
  if [ "$wheel_mb" = unknown ]; then
    say 'the index does not tell how large the wheel is: taken to be 1000 MB'
    wheel_mb=1000
  fi
  case $wheel_name in
    *+cpu-*) return ;;
  esac
  say "only a CUDA build of torch $torch_release is offered: $wheel_mb MB to fetch, about three times that on disk"
  need_space $((4000 + 3 * wheel_mb)) 'LibTorch with CUDA and a build'
}
