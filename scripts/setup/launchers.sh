# The launchers that ranktune is tested under: Open MPI, MPICH, Slurm, network namespaces, and sagemaker-training in a
# Python environment of its own, .deps/sagemaker. torchrun is part of .deps/peer: call the part peer as well.
# shellcheck shell=sh disable=SC2154

sagemaker=$deps/sagemaker
wanted=$root/scripts/sagemaker_requirements.txt
# The daemons lie in a folder that only root has in PATH.
PATH=$PATH:/usr/sbin:/sbin
launcher_programs='mpirun.openmpi mpirun.mpich srun sbatch slurmctld slurmd munged ip'

already_done() {
  for program in $launcher_programs; do
    command -v "$program" >/dev/null 2>&1 || return 1
  done
  cmp -s "$wanted" "$sagemaker/requirements.txt"
}

do_it() {
  ensure_packages openmpi-bin=mpirun.openmpi mpich=mpirun.mpich slurm-client=srun slurmctld=slurmctld slurmd=slurmd \
    munge=munged iproute2=ip python3=python3 python3-venv=venv ca-certificates=/etc/ssl/certs/ca-certificates.crt
  cmp -s "$wanted" "$sagemaker/requirements.txt" || install_sagemaker
}

install_sagemaker() {
  # It comes as source, with a part in C.
  headers=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
  ensure_packages gcc=cc python3-dev="$headers/Python.h"
  need_space 1000 'sagemaker-training'
  say "installing sagemaker-training and what it needs into $sagemaker"
  rm -rf "$sagemaker"
  python3 -m venv "$sagemaker" >"$log" 2>&1 ||
    die "python3 cannot make an environment in $sagemaker: $(tail -n 1 "$log")"
  : >"$log"
  if ! "$sagemaker/bin/python" -m pip install --disable-pip-version-check --retries 2 -r "$wanted" >>"$log" 2>&1; then
    rm -rf "$sagemaker"
    die_of_pip 'sagemaker-training'
  fi
  cp "$wanted" "$sagemaker/requirements.txt"
}
