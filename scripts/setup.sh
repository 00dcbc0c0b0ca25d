#!/bin/sh
# Makes this machine ready for ranktune: installs what is missing and nothing else, and remembers the result, so that
# the next call is a matter of milliseconds. ./run calls it first; calling it by hand is fine too.
#
#   scripts/setup.sh [build]    compiler, libraries, LibTorch             -> .deps/env.sh
#   scripts/setup.sh peer       the Python packages of the peer tests     -> .deps/peer/
#   scripts/setup.sh launchers  MPI, Slurm and what else starts programs  -> .deps/sagemaker/
#   scripts/setup.sh demo       the demo's model and sentences            -> .deps/models/, demo/
#   scripts/setup.sh format     clang-format
#
# Every failure is one line on standard error and a non-zero exit; downloads are unpacked beside their place and moved
# there whole.
# shellcheck disable=SC1090,SC1091,SC2154
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
deps=$root/.deps
parts=$root/scripts/setup
. "$parts/common.sh"

part=${1:-build}
case $part in
  build|peer|launchers|demo|format) ;;
  *) die "unknown part '$part'; there are build, peer, launchers, demo and format" ;;
esac

. "$parts/$part.sh"
if already_done; then
  exit 0
fi
{ mkdir -p "$deps" && [ -w "$deps" ] && : >"$log"; } 2>/dev/null ||
  die "cannot write to $deps: it has to be yours (was ./run started as another user before?)"
. "$parts/packages.sh"
. "$parts/download.sh"
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
do_it
