# ranktune_add_libtorch(target ...): an interface target for LibTorch, after find_package(Torch).
# at::parallel_for works in one thread only, and says nothing, where the code that calls it is compiled without OpenMP.
# The runtime library has to be the one that LibTorch itself loads: two of them would keep two sets of threads.
function(ranktune_add_libtorch target)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  add_library(${target} INTERFACE ${ARGN})
  # LibTorch's headers are not ours to warn about.
  target_include_directories(${target} SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_compile_definitions(${target} INTERFACE AT_PER_OPERATOR_HEADERS)
  # c10d's headers are empty without these, which LibTorch's own targets set.
  if(NOT TARGET torch_cpu)
    target_compile_definitions(${target} INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
  endif()
  target_compile_options(${target} INTERFACE ${OpenMP_CXX_FLAGS})
  # NCCL is in every CUDA build of LibTorch, its header in none: a Python's torch has it in a package beside its own.
  if(TARGET torch_cuda)
    find_path(RANKTUNE_NCCL_INCLUDE nccl.h HINTS "${TORCH_INSTALL_PREFIX}/../nvidia/nccl/include")
    if(RANKTUNE_NCCL_INCLUDE)
      target_include_directories(${target} SYSTEM INTERFACE ${RANKTUNE_NCCL_INCLUDE})
      target_compile_definitions(${target} INTERFACE USE_C10D_NCCL)
    else()
      message(STATUS "nccl.h was not found (RANKTUNE_NCCL_INCLUDE names its folder): ranks will use Gloo")
    endif()
  endif()
  file(GLOB openmp_runtime "${TORCH_INSTALL_PREFIX}/lib/libgomp*.so*" "${TORCH_INSTALL_PREFIX}/../torch.libs/libgomp*.so*")
  if(NOT openmp_runtime)
    set(openmp_runtime ${OpenMP_CXX_LIBRARIES})
  endif()
  list(GET openmp_runtime 0 openmp_runtime)
  target_link_libraries(${target} INTERFACE ${TORCH_LIBRARIES} ${openmp_runtime})
endfunction()
