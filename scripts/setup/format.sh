# clang-format, for ./run format.
# shellcheck shell=sh

already_done() {
  command -v clang-format >/dev/null 2>&1
}

do_it() {
  ensure_packages clang-format=clang-format
}
