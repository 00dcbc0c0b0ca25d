# ranktune_add_library(core SOURCES a.cpp b.cpp DEPENDS ranktune::x PRIVATE fmt::fmt-header-only)
# One library per folder, known as ranktune::<folder>, installed and exported under that name.
include(GNUInstallDirs)
function(ranktune_add_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;PRIVATE" ${ARGN})
  add_library(ranktune_${folder} STATIC ${arg_SOURCES})
  add_library(ranktune::${folder} ALIAS ranktune_${folder})
  set_target_properties(ranktune_${folder} PROPERTIES EXPORT_NAME ${folder} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(ranktune_${folder} PUBLIC cxx_std_20)
  target_include_directories(ranktune_${folder}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(ranktune_${folder} PUBLIC ${arg_DEPENDS} PRIVATE $<BUILD_INTERFACE:ranktune_options>)
  foreach(library IN LISTS arg_PRIVATE)
    target_link_libraries(ranktune_${folder} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ranktune_targets ranktune_${folder})
endfunction()
