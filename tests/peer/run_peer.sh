#!/bin/sh
# run_peer.sh PYTHON SCRIPT ARGUMENTS...: runs a peer test, or says why it cannot and exits with 77, which ctest counts
# as skipped.
python=$1
shift
if [ ! -x "$python" ]; then
  echo "skipped: there is no $python; './run test peer' installs the peers"
  exit 77
fi
exec "$python" "$@"
