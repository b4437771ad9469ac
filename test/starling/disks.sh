#!/bin/sh
# State folders on disks that are read-only, full, or not local: what `starling doctor` and starlingd say, and that the remedy
# is one: disks.sh STARLING STARLINGD [OTHER_DISK]
# NFS and FUSE are not mounted: the library OTHER_DISK, preloaded, tells their types; what they do to records is not tried.
if [ "${inside:-}" != yes ]; then
	unshare -rm true 2>/dev/null || exit 77
	inside=yes exec unshare -rm "$0" "$@"
fi
starlingd=$(realpath "$2")
lib=$(realpath "${0%/*}/../lib")
other_disk=${3:+$(realpath "$3")}
. "$lib/head.sh"
pid=
holder=
trap 'for one in $pid $holder; do kill -KILL "$one" 2>/dev/null || :; done; wait; umount -l disk layer 2>/dev/null || :; rm -rf "$folder"' EXIT
mkfifo ports
/usr/bin/python3 "$lib/ports.py" 3 >ports &
holder=$!
read -r first second third <ports
mkdir disk layer
set -- "$first" "$second" "$third"
for i in 1 2 3; do
	"$program" keygen --id $i --name m$i --address "127.0.0.1:$1" --dir m$i >>roster.yaml 2>err
	shift
done
printf 'run: one\nid: 1\nroster: roster.yaml\nidentity: m1\nstate: %s\ntrainer: noise\nnoise_parameters: 10\nlog: log.jsonl\n' "$folder/disk/state" >config.yaml

doctor() { # A line of the doctor, and what stands in it
	"$program" doctor --config config.yaml >out 2>err || :
	line=$(grep -e "$1" out) || fail "no line of $1"
	shift
	for part in "$@"; do
		case $line in *"$part"*) ;; *) fail "no $part in: $line" ;; esac
	done
}

refuses() { # What starlingd says, which does not start
	code=0
	"$starlingd" --config config.yaml >out 2>err || code=$?
	[ $code = 1 ] || fail "starlingd ends with $code"
	has err "$@"
}

starts() { # Start the learner, and end it
	rm -f log.jsonl
	"$starlingd" --config config.yaml >out 2>err &
	pid=$!
	until grep -q '"event":"listening"' log.jsonl 2>/dev/null; do
		kill -0 "$pid" || fail 'it does not start'
		sleep 0.1
	done
	until grep -q '"event":"phase"' log.jsonl; do sleep 0.1; done
	kill -KILL "$pid"
	wait "$pid" || :
	pid=
}

# Read-only, as after a fault of the disk.
mount -t tmpfs -o size=4m,nr_inodes=100,ro tmpfs disk
doctor '^FAIL  disk' 'Read-only file system; mount its file system writable' "or set 'state' to a folder elsewhere"
refuses 'Read-only file system; mount its file system writable'
mount -o remount,rw,size=4m disk
doctor '^ok    disk' 'to synchronise 64 KiB'
doctor '^warn  file system' "is on tmpfs, which forgets all" "put 'state' on a disk"
starts
has log.jsonl '"event":"state_folder"' 'the state folder is on tmpfs'
echo 'forgetful: yes' >>config.yaml
doctor '^ok    file system' "is on tmpfs, which forgets all" "'forgetful' allows for that"
sed -i /forgetful/d config.yaml

# Full; then the remedy is followed.
head -c 8m /dev/zero >disk/large 2>/dev/null || :
doctor '^FAIL  disk' 'No space left on device; free some space'
rm disk/large
doctor '^ok    disk'
mkdir disk/many
(cd disk/many && seq 100 | xargs touch 2>/dev/null) || :
doctor '^FAIL  disk' 'No space left on device; free some space, or inodes' 'df -i'
rm -r disk/many
doctor '^ok    disk'

# A large model has its vectors in files of the state folder. There may be room later: so a service manager is to start it again.
sed -i 's/^noise_parameters: 10$/noise_parameters: 70000000/' config.yaml
refuses 'no memory, or no room in the state folder, for 70000000 parameters'
sed -i 's/^noise_parameters: 70000000$/noise_parameters: 10/' config.yaml

# Room for what it writes: ten models, of which some are there.
head -c 3400k /dev/zero >disk/large
doctor '^FAIL  room on disk' ' MiB free, ' ' MiB more may be needed; free some space' 'up to ten times the size of its model'
rm disk/large
mkdir -p disk/state/checkpoints
head -c 300k /dev/zero >disk/state/checkpoints/round-0000001.safetensors
ln -s round-0000001.safetensors disk/state/checkpoints/latest.safetensors
doctor '^ok    disk'
! grep -q 'room on disk' out || fail "room: $(cat out)"
head -c 2000k /dev/zero >disk/large
doctor '^warn  room on disk' ' MiB more may be needed; free some space'
rm -r disk/large disk/state/checkpoints

# No folder in which to make it.
sed -i "s,^state: .*,state: $folder/disk/nowhere/state," config.yaml
doctor '^FAIL  disk' "No such file or directory; make the folder, or correct 'state'"
refuses 'No such file or directory; make the folder'
mkdir disk/nowhere
doctor '^ok    disk'
: >file
sed -i "s,^state: .*,state: $folder/file," config.yaml
doctor '^FAIL  disk' "Not a directory; set 'state' to a folder"

# A layer of a container; some kernels refuse it here.
mkdir disk/lower disk/upper disk/work
if mount -t overlay -o "lowerdir=$folder/disk/lower,upperdir=$folder/disk/upper,workdir=$folder/disk/work" overlay layer 2>/dev/null; then
	sed -i "s,^state: .*,state: $folder/layer/state," config.yaml
	doctor '^warn  file system' 'is on overlay' "put 'state' on a disk"
	umount layer
fi

# File systems of the network, as far as their type tells.
sed -i "s,^state: .*,state: $folder/here," config.yaml
if [ -n "$other_disk" ]; then
	export LD_PRELOAD="$other_disk" OTHER_DISK_TYPE=6969
	doctor '^warn  file system' 'is on NFS' "export it with 'sync'"
	starts
	has log.jsonl '"level":"warn"' 'the state folder is on NFS'
	export OTHER_DISK_TYPE=65735546
	doctor '^warn  file system' 'is on FUSE (which may be on another machine), where a record may be lost' "put 'state' on a local disk"
	export OTHER_DISK_TYPE=ef53
	starts
	! grep -q state_folder log.jsonl || fail 'a local disk is named'
	cp here/has-records copy
	mv copy here/has-records
	for type in 4d44 2011bab0; do # FAT has no lasting inodes
		export OTHER_DISK_TYPE=$type
		starts
		! grep -q copied log.jsonl || fail "on FAT ($type), a folder is called a copy by its inode"
	done
	export OTHER_DISK_TYPE=ef53
	starts
	has log.jsonl '"event":"copied"'
	OTHER_DISK_NO_LOCKS=1 refuses 'No locks available; its file system has no locks'
fi
