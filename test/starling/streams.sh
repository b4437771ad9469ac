#!/bin/sh
# Standard streams that are closed or full: one line and status 1, no traceback, and no file in the place of a stream. A reader that is
# gone makes no failure a success: streams.sh STARLING STARLINGD
starlingd=$(realpath "$2")
. "${0%/*}/../lib/head.sh"
for i in 1 2 3; do
	"$program" keygen --id $i --name m$i --address "127.0.0.1:740$i" --dir m$i >>roster.yaml 2>err
done
printf 'run: one\nid: 1\nroster: roster.yaml\nidentity: m1\nstate: state\ntrainer: noise\nnoise_parameters: 10\n' >config.yaml

lost() { # WHY, then the program and its arguments: its standard output is `to`
	why=$1
	shift
	for to in '>&-' '>/dev/full'; do
		code=0
		case $to in
		'>&-') "$@" >&- 2>err || code=$? ;;
		*) "$@" >/dev/full 2>err || code=$? ;;
		esac
		[ "$code" = 1 ] && [ "$(wc -l <err)" = 1 ] || fail "$* $to ends with $code"
		has err "$why: cannot write standard output: "
	done
}

lost 'starling doctor' "$program" doctor --config config.yaml --json
lost 'starling estimate' "$program" estimate ring -n 6
lost 'starling estimate' "$program" estimate ring -n 6 --json
lost 'starling topology generate' "$program" topology generate ring -n 6
lost 'starling topology generate' "$program" topology generate ring -n 2000 # more than a buffer
lost 'starling simulate' "$program" simulate -n 3 --rounds 1 # flushed line by line
lost 'starling topology augment' "$program" topology augment ring -n 6
for what in --settings --version --help --usage; do
	lost starlingd "$starlingd" $what
done
lost starlingd "$starlingd" --config config.yaml --check
"$starlingd" --config config.yaml --check <&- >out 2>&-
has out 'config.yaml: fine'

# Nothing swallows lost output, and no other error is taken for it.
(
	export PYTHONUNBUFFERED=1
	lost 'starling logs' "$program" logs --help
	lost 'starling stop' "$program" stop --help
)
mkdir modules
cat >modules/other.py <<'END'
import os
from starling_timeline.command import guard

def main(arguments):
	return guard("other", lambda: len(os.read(os.open("/", os.O_RDONLY), 1)))
END
python=$(dirname "$program")/python
code=0
PYTHONPATH=$PWD/modules:$python python3 "$python/starling_start" other other >out 2>err || code=$?
[ "$code" = 1 ] && [ "$(cat err)" = 'other: Is a directory' ] || fail "another error ends with $code"

# Ctrl-C ends a command without a traceback, also while its modules are read.
echo 'import os, signal; os.kill(os.getpid(), signal.SIGINT)' >modules/ended.py
code=0
PYTHONPATH=$PWD/modules:$python python3 "$python/starling_start" ended ended >out 2>err || code=$?
[ "$code" = 130 ] && [ ! -s err ] || fail "Ctrl-C ends a command with $code"

# What was found is the status, whether it is read or not: 6 is a pipe without a reader.
mkfifo pipe
exec 5<>pipe 6>pipe 5>&-
unread() { # STATUS, then the arguments
	wanted=$1
	shift
	for PYTHONUNBUFFERED in '' 1; do
		export PYTHONUNBUFFERED
		code=0
		"$program" "$@" >&6 2>err || code=$?
		[ "$code" = "$wanted" ] && [ ! -s err ] || fail "$* without a reader ends with $code"
	done
}
echo '{"v":1,"time":"2026-11-21T12:00:00.100Z","learner":1,"name":"ana","level":"info","event":"charged","text":"charged","round":1,"attempt":1,"epsilon":3.0,"epsilon_unsampled":3.0,"delta":1e-5,"budget":2.0}' >log.jsonl
unread 1 doctor --config config.yaml
unread 1 doctor --config config.yaml --json
unread 1 dp audit log.jsonl
unread 3 topology audit star -n 5
unread 2 status --control nowhere.sock
unread 2 status --watch --control nowhere.sock
echo malformed >>log.jsonl # which is told at the end
unread 0 logs log.jsonl
