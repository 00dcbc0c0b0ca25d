# Compiler settings as one interface target, used by ranktune's own targets only.
add_library(ranktune_options INTERFACE)
target_compile_features(ranktune_options INTERFACE cxx_std_20)
target_compile_options(ranktune_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion)
# GCC 12 and 13 see overlapping copies in std::string's operator+ that cannot happen.
target_compile_options(ranktune_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Off in the sanitizer presets: instrumented code makes GCC warn of things that the plain build shows to be fine.
if(RANKTUNE_WARNINGS_AS_ERRORS)
  target_compile_options(ranktune_options INTERFACE -Werror)
endif()
if(RANKTUNE_SANITIZE)
  target_compile_options(ranktune_options INTERFACE -fsanitize=${RANKTUNE_SANITIZE} -fno-omit-frame-pointer
                                                    -fno-sanitize-recover=all)
  target_link_options(ranktune_options INTERFACE -fsanitize=${RANKTUNE_SANITIZE})
endif()
