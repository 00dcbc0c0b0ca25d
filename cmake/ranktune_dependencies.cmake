# What ranktune stands on. Packages of the system first; scripts/setup.sh installs those that are missing.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(fmt 9 REQUIRED)  # header-only use: LibTorch brings another fmt, see docs/architecture.md

if(RANKTUNE_LIBTORCH)
  find_package(Torch 2.6 REQUIRED)
  include(ranktune_libtorch)
  ranktune_add_libtorch(ranktune_libtorch)
endif()

if(RANKTUNE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(RANKTUNE_BUILD_BENCHMARKS)
  find_package(benchmark QUIET)
endif()
