#!/bin/bash
# deploy/slurm/starling.sbatch on a cluster of this machine: slurm.sh STARLING STARLINGD SOURCE. Three nodes are three slurmd
# in host name spaces of their own. The job commits its rounds; then a second one goes on from its folder.
# Exits 77 (skipped) without root or Slurm.
set -euo pipefail
starling=$(realpath "$1") starlingd=$(realpath "$2") source=$3 here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "$1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "needs root"
for program in slurmctld slurmd munged sbatch scontrol; do
	command -v $program >/dev/null || skip "$program is missing: apt-get install slurmctld slurmd slurm-client munge"
done
unshare --uts true 2>/dev/null || skip "host name spaces are refused"
[ ! -e /run/munge/munge.socket.2 ] || skip "a munge runs here already"
work=$(mktemp -d /tmp/starling-test-XXXXXX)
chmod 755 "$work"
pids=()
finish() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	sleep 1
	for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap finish EXIT INT TERM

cat >"$work/slurm.conf" <<END
ClusterName=test
SlurmctldHost=head(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmdSpoolDir=$work/spool-%n
StateSaveLocation=$work/state
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
ReturnToService=2
NodeName=n1 NodeAddr=127.0.0.1 Port=16821
NodeName=n2 NodeAddr=127.0.0.1 Port=16822
NodeName=n3 NodeAddr=127.0.0.1 Port=16823
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
END
export SLURM_CONF=$work/slurm.conf PATH=$(dirname "$starling"):$(dirname "$starlingd"):$PATH
mkdir "$work/munge" "$work/state" "$work"/spool-n{1,2,3}
dd if=/dev/urandom of="$work/munge/key" bs=128 count=1 status=none
chmod 700 "$work/munge" && chmod 600 "$work/munge/key" && chmod 711 "$work/munge"
munged --foreground --force --socket="$work/munge/socket" --key-file="$work/munge/key" --log-file="$work/munge/log" \
	--pid-file="$work/munge/pid" --seed-file="$work/munge/seed" >"$work/munged.log" 2>&1 &
pids+=($!)
unshare --uts sh -c "hostname head; exec slurmctld -D -f '$SLURM_CONF'" >"$work/slurmctld.out" 2>&1 &
pids+=($!)
for node in n1 n2 n3; do
	unshare --uts sh -c "hostname $node; exec slurmd -D -f '$SLURM_CONF' -N $node" >"$work/$node.out" 2>&1 &
	pids+=($!)
done
await() {
	for _ in $(seq 1200); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.5
	done
	echo "failed, in vain: $*"
	tail -n 5 "$work"/*.log "$work"/*.out "$work"/job* 2>/dev/null || true
	scontrol show nodes | grep -E 'NodeName|State|Reason' || true
	exit 1
}
nodes_idle() { [ "$(sinfo -h -t idle -o %D)" = 3 ]; }
await nodes_idle

cd "$work"
job() { # settings
	local id
	id=$(STARLING_FOLDER=$work/run STARLING_PORT=$port sbatch --parsable --nodes=3 --output="$work/job" "$source/deploy/slurm/starling.sbatch" "$@")
	ended() { [ -z "$(squeue -h -j "$id")" ]; }
	await ended
}
# Of each job, three ports in a row: the second one's begin 10 after the first one's.
python3 "$here/../lib/ports.py" 13 >"$work/ports" &
pids+=($!)
await test -s "$work/ports"
read -r port _ <"$work/ports"
# The commands of the page.
ln -s "$source/deploy" deploy
python3 "$here/blocks.py" deploy/README.md Slurm login >page
STARLING_FOLDER=$work/run STARLING_PORT=$port sh page >job 2>&1 || { cat job; echo "failed: the commands of the page"; exit 1; }
for i in 1 2 3; do grep -q '"round 3 committed' "$work/run/$i/log.jsonl" || { cat "$work/job"; echo "failed: learner $i has not committed round 3"; exit 1; }; done
cmp "$work"/run/1/state/checkpoints/round-000003.safetensors "$work"/run/3/state/checkpoints/round-000003.safetensors
echo "a job of three nodes: passed"
port=$((port + 10))
job rounds=5 trainer=noise noise_parameters=1000 serve_after_end=5
grep -q '"round 5 committed' "$work/run/2/log.jsonl" && grep -q 'start number 2' "$work/run/2/log.jsonl" ||
	{ cat "$work/job"; echo "failed: a second job does not go on"; exit 1; }
echo "a job that goes on: passed"
