# ranktune_add_test(text_wordpiece SOURCES wordpiece_test.cpp LIBRARIES ranktune::text LABELS unit)
# One program per subject, one ctest entry per program; each runs in a scratch folder of its own with a time limit.
# Tests reach committed fixtures through RANKTUNE_SOURCE_DIR and the shared data through RANKTUNE_SHARED_DIR.
set(RANKTUNE_SHARED_DIR "${PROJECT_SOURCE_DIR}/../shared" CACHE PATH "Folder with data sets that some tests read; absent: those tests skip")
function(ranktune_add_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name}_test ${arg_SOURCES})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${name}_test PRIVATE
    RANKTUNE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" RANKTUNE_SHARED_DIR="${RANKTUNE_SHARED_DIR}"
    RANKTUNE_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  target_link_libraries(${name}_test PRIVATE ${arg_LIBRARIES} ranktune_options GTest::gtest GTest::gmock GTest::gtest_main)
  set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name}_test WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()

# ranktune_add_python_test(launch_front launcher_test.py) A test in Python; those that run programs find them in
# RANKTUNE_BIN_DIR. Without Python there is no such test.
find_program(RANKTUNE_PYTHON python3)
function(ranktune_add_python_test name file)
  if(RANKTUNE_PYTHON)
    add_test(NAME ${name} COMMAND ${RANKTUNE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77
      ENVIRONMENT "RANKTUNE_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};PYTHONDONTWRITEBYTECODE=1")
  endif()
endfunction()
