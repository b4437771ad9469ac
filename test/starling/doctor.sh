#!/bin/sh
# `starling doctor`: what it says of this machine and of peers, a case for each: doctor.sh STARLING STARLINGD
starlingd=$(realpath "$2")
. "${0%/*}/../lib/head.sh"
pids=
# shellcheck disable=SC2154
trap 'for pid in $pids; do kill -KILL "$pid" 2>/dev/null || :; done; wait; rm -rf "$folder"' EXIT

# shellcheck disable=SC2046
set -- $(python3 -c '
import socket
held = [socket.socket() for _ in range(12)]
for s in held: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in held])')

keygen() { # ID ADDRESS
	mkdir "m$1"
	"$program" keygen --id "$1" --name "m$1" --address "$2" --dir "m$1/identity" >"line$1" 2>err || fail "keygen of $1"
}

configure() { # FILE ID ROSTER RUN
	{
		echo "run: $4"
		echo "id: $2"
		echo "roster: $folder/$3"
		echo "identity: $folder/m$2/identity"
		echo "state: $folder/m$2/state"
		echo "data: digits"
		echo "hidden_units: 1"
	} >"$1"
}

start() { # ID ROSTER RUN
	configure "m$1/config.yaml" "$1" "$2" "$3"
	"$starlingd" --config "m$1/config.yaml" >"m$1/log" 2>&1 &
	pids="$pids $!"
}

says() { # RESULT, about, then parts of one line of the output
	line=$(grep -e "^$1 *$2: " out) || fail "no $1 of $2: $(cat out)"
	shift 2
	for part in "$@"; do
		case $line in
		*"$part"*) ;;
		*) fail "no '$part' in: $line" ;;
		esac
	done
}

# Learner 1 is this machine. 2 is well, 3 does not run, 4 has no name, 5 is silent, 6 speaks no TLS, 7 shows another key, 8 does
# not know learner 1, 9 is of another run, 10 speaks a newer version, 11 is the address of 2, 12 another roster.
i=0
for port in "$@"; do
	i=$((i + 1))
	case $i in
	4) keygen 4 "nowhere.invalid:7400" ;;
	11) keygen 11 "localhost:$2" ;;
	*) keygen $i "127.0.0.1:$port" ;;
	esac
done
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat "line$i"; done >roster.yaml
configure config.yaml 1 roster.yaml one
grep -v 'name: m1,' roster.yaml >without.yaml
grep -v 'name: m3,' roster.yaml >other.yaml
start 2 roster.yaml one
second=$!
start 8 without.yaml one
start 9 roster.yaml two
start 12 other.yaml one
# The key of 7 has been made anew since.
"$program" keygen --id 7 --name m7 --address "127.0.0.1:$7" --dir new >line7b 2>err || fail "a new key"
sed '/name: m7,/d' roster.yaml | cat - line7b >renewed.yaml
mv m7/identity m7/before && mv new m7/identity
start 7 renewed.yaml one
cat >others.py <<'PYTHON'
import socket, ssl, sys, threading
silent, plain, newer = map(int, sys.argv[1:4])
def serve(port, answer):
    listener = socket.create_server(('127.0.0.1', port))
    def loop():
        kept = []
        while True:
            one, _ = listener.accept()
            kept.append(one)
            try:
                answer(one)
            except OSError:
                pass
    threading.Thread(target=loop).start()
def answer_plain(one):
    one.sendall(b'SSH-2.0-OpenSSH_9.2\r\n')
    one.close()
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.minimum_version = ssl.TLSVersion.TLSv1_3
context.load_cert_chain('m10/identity/cert.pem', 'm10/identity/key.pem')
def answer_newer(one):
    with context.wrap_socket(one, server_side=True) as tls:
        tls.sendall(bytes([ord('S'), 99, 64, 0, 0, 0, 0, 0]))
        tls.recv(1)
serve(silent, lambda one: None)
serve(plain, answer_plain)
serve(newer, answer_newer)
PYTHON
python3 others.py "$5" "$6" "${10}" 2>others.log &
pids="$pids $!"

ready() { # wait until the port answers
	for _ in $(seq 100); do
		python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()' "$1" 2>/dev/null && return
		sleep 0.1
	done
	fail "nothing listens at $1"
}
for port in "$2" "$7" "$8" "$9" "${12}" "$6" "${10}"; do ready "$port"; done

ends 1 doctor --config config.yaml
says ok configuration
says ok roster '12 learners'
says ok key 'mode 0600'
says ok clock
says warn learner 'is not running'
says ok address free
says ok 'open files'
says ok 'peer m2 (2)' answers
says FAIL 'peer m3 (3)' 'connection refused' 'start its learner'
says FAIL 'peer m4 (4)' 'its name does not resolve'
says FAIL 'peer m5 (5)' 'TLS failure' 'timed out'
says FAIL 'peer m6 (6)' 'TLS failure' 'another program'
says FAIL 'peer m7 (7)' 'another key answers, sha256:'
says FAIL 'peer m8 (8)' 'it refuses the key of this machine'
says FAIL 'peer m9 (9)' 'other run' "set 'run'"
says FAIL 'peer m10 (10)' 'version differs' 'newer' 'upgrade Starling here'
says FAIL 'peer m11 (11)' 'another learner answers there, m2 (2)'
says warn 'peer m12 (12)' 'another roster'

# One direction only: this machine has a wrong port of learner 2, which dials it.
sed "s/127.0.0.1:$2/127.0.0.1:$3/" line2 >wrong2
{ cat line1 wrong2 line9; } >three.yaml
{ cat line1 line2 line9; } >right.yaml
rm -rf m1/state
start 1 three.yaml one
kill -KILL "$second"
wait "$second" 2>/dev/null || :
rm -r m2/state
start 2 right.yaml one
for _ in $(seq 100); do
	"$program" status --json --control m1/state/control.sock 2>/dev/null | grep -q '"links": 2' && break
	sleep 0.1
done
ends 0 doctor --config m1/config.yaml
says warn 'peer m2 (2)' 'one direction only'
says ok address 'held by the running learner'
grep -q '^[a-zA-Z]* *learner: runs' out || fail "the learner runs"
says ok 'peer m9 (9)' 'holds a link'

# This machine.
touch -d '+1 day' roster.yaml
chmod 644 m3/identity/key.pem
configure three.conf 3 roster.yaml one
echo "listen: 127.0.0.1:$2" >>three.conf
ends 1 doctor --config three.conf
says FAIL key 'lets others read the secret key' 'chmod 600'
says FAIL clock 'before the date of' 'timedatectl'
says FAIL address 'Address already in use' 'ss -ltnp'
configure config.yaml 77 roster.yaml one
ends 1 doctor --config config.yaml
says FAIL 'own line' 'has no learner 77'
ends 1 doctor --config config.yaml --json
python3 -c 'import json, sys; assert {"result", "about", "text", "remedy"} == set(json.load(open("out"))[0])' || fail "no JSON"
(
	ulimit -n 40
	ulimit -l 64
	ends 1 doctor --config config.yaml
)
says FAIL 'open files' 'up to 40'
says warn 'locked memory' '0.1 MiB'
configure config.yaml 4 roster.yaml one
sed -i "s|m4/identity|m5/identity|; s|$folder/m4/state|/proc/nowhere/state|" config.yaml
ends 1 doctor --config config.yaml
says FAIL key 'the roster sha256:'
says FAIL address 'nowhere.invalid'
says FAIL disk
echo 'rounds: many' >>config.yaml
ends 1 doctor --config config.yaml
says FAIL configuration 'config.yaml:'
echo 'nonsense' >bad.yaml
configure config.yaml 5 bad.yaml one
ends 1 doctor --config config.yaml
says FAIL roster bad.yaml
ends 2 doctor --config config.yaml --folder x
has err 'exclude each other'

# A group: a peer answers as one that joins, so that no link is disturbed.
"$program" group create ward --learner a --address "127.0.0.1:$3" --folder ga --set data=digits --set hidden_units=1 --auto-admit 1 >invitation 2>err ||
	fail "group create"
"$starlingd" --config ga/starlingd.yaml >ga.log 2>&1 &
pids="$pids $!"
ready "$3"
timeout 30 "$program" join - --name b --address "127.0.0.1:$4" --folder gb --set data=digits <invitation >out 2>err || fail "join"
sleep 1 # the first learner takes up the roster
ready "$3"
ends 0 doctor --folder gb
says ok roster 'group ward, version 2'
says ok 'peer a (1)' answers
