# What a build needs: compiler, CMake, libraries of the system, LibTorch. The result is .deps/env.sh.
# shellcheck shell=sh disable=SC1091,SC2154
. "$parts/libtorch.sh"

# What the choice of LibTorch depends on, and a number to raise when this script asks for more than before.
key="1|${Torch_DIR:-}|${CMAKE_PREFIX_PATH:-}"

already_done() {
  [ -f "$deps/env.sh" ] || return 1
  . "$deps/env.sh"
  [ "$RANKTUNE_SETUP_KEY" = "$key" ] && [ -f "$RANKTUNE_TORCH_DIR/TorchConfig.cmake" ] &&
    [ -d "$RANKTUNE_LIBTORCH" ] &&
    command -v "${CXX:-c++}" >/dev/null 2>&1 && command -v cmake >/dev/null 2>&1 && command -v ninja >/dev/null 2>&1
}

do_it() {
  ensure_packages g++=c++ cmake=cmake ninja-build=ninja ccache=ccache python3=python3 \
    nlohmann-json3-dev=nlohmann/json.hpp libfmt-dev=fmt/format.h \
    libgtest-dev=gtest/gtest.h libgmock-dev=gmock/gmock.h libbenchmark-dev=benchmark/benchmark.h
  check_compiler
  check_cmake
  find_libtorch
  {
    echo '# Written by scripts/setup.sh, read by it and by ./run. Remove it to have the set-up done again.'
    echo "RANKTUNE_SETUP_KEY=$(quote "$key")"
    echo "RANKTUNE_TORCH_DIR=$(quote "$torch_dir")"
    echo "RANKTUNE_LIBTORCH=$(quote "$libtorch")"
  } >"$deps/env.sh.$$"
  mv "$deps/env.sh.$$" "$deps/env.sh"
}

check_compiler() {
  new_scratch
  printf '#include <concepts>\n#include <span>\nint main() { return 0; }\n' >"$scratch/probe.cpp"
  "${CXX:-c++}" -std=c++20 -o "$scratch/probe" "$scratch/probe.cpp" >"$log" 2>&1 ||
    die "no working C++20 compiler: '${CXX:-c++}' fails on an empty program (its words: $log); g++ 12 and later serve"
}

check_cmake() {
  version=$(cmake --version | sed -n 's/^cmake version //p')
  major=${version%%.*}
  minor=${version#*.}
  minor=${minor%%.*}
  [ "$((major * 1000 + minor))" -ge 3025 ] || die "CMake $version is too old: 3.25 or later is needed"
}
