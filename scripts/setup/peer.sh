# The packages that ranktune is compared with, in a Python environment of their own: .deps/peer. The list it was made
# from lies inside; when the two differ, it is made anew.
# shellcheck shell=sh disable=SC2154

peer=$deps/peer
wanted=$root/scripts/peer_requirements.txt

already_done() {
  cmp -s "$wanted" "$peer/requirements.txt"
}

do_it() {
  ensure_packages python3=python3 python3-venv=venv ca-certificates=/etc/ssl/certs/ca-certificates.crt
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    die "the peer packages need Python 3.10 or later, and $(python3 --version) is here"
  need_space 4000 'the peer packages'
  say "installing transformers, tokenizers, scikit-learn and what they need into $peer (a few minutes)"
  rm -rf "$peer"
  python3 -m venv "$peer" >"$log" 2>&1 || die "python3 cannot make an environment in $peer: $(tail -n 1 "$log")"
  : >"$log"
  if ! "$peer/bin/python" -m pip install --disable-pip-version-check --retries 2 -r "$wanted" >>"$log" 2>&1; then
    rm -rf "$peer"
    die_of_pip 'the peer packages'
  fi
  cp "$wanted" "$peer/requirements.txt"
}
