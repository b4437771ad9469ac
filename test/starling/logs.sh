#!/bin/sh
# `starling logs`, `starling keygen` and the program itself, as a user starts them: logs.sh STARLING
. "${0%/*}/../lib/head.sh"

is() { # FILE, then what stands in it, line by line
	file=$1
	shift
	: >want
	[ $# = 0 ] || printf '%s\n' "$@" >want
	cmp -s "$file" want || fail "$file is: $(head -c 3000 "$file")"
}
record() { # MS ID LEVEL [REST]
	echo "{\"time\":\"2026-11-21T12:00:00.$1Z\",\"mono_ms\":$1.5,\"level\":\"$3\",\"learner\":$2,\"name\":\"learner-0$2\",\"event\":\"e\",\"text\":\"at $1\"${4-}}"
}
at() { # MS ID LEVEL: the record as text
	printf '12:00:00.%s learner-0%s %-5s e          at %s\n' "$1" "$2" "$3" "$1"
}
says() { # ERROR, then the arguments: wrong usage
	why=$1
	shift
	ends 2 "$@"
	is err "$why"
}

# All logs as one stream, in order of time; filters, and what there is instead.
mkdir -p run/learner-01 run/learner-02
{ record 100 1 info ',"round":1' && record 300 1 warn ',"round":2'; } >run/learner-01/log.jsonl
{ record 200 2 debug ',"round":1' && record 250 2 info && record 400 2 error ',"round":2'; } >run/learner-02/log.jsonl
ends 0 logs run
is out "$(at 100 1 info)" "$(at 200 2 debug)" "$(at 250 2 info)" "$(at 300 1 warn)" "$(at 400 2 error)"
is err
ends 0 logs run --round 2
is out "$(at 300 1 warn)" "$(at 400 2 error)"
ends 0 logs --learner 2 --level info run
is out "$(at 250 2 info)" "$(at 400 2 error)"
ends 0 logs --learner learner-01 --level=error run
is out
says "starling logs: run: no record of learner '3'; there are learner-01 (1), learner-02 (2)" logs run --learner 3
is out
ends 2 logs run --learner learner-2
ends 0 logs run --round 9
is out
is err "starling logs: run: no record of round 9; there are rounds 1 to 2"
ends 0 logs run --round 2 --level error --learner 1
is err
ends 0 logs run --json --learner 1
cmp out run/learner-01/log.jsonl || fail "--json changes records"

# The order within a file is kept.
mkdir -p kept/a kept/b
{ record 500 1 info && record 100 1 info; } >kept/a/log.jsonl
{ record 500 2 info && record 600 2 info; } >kept/b/log.jsonl
ends 0 logs kept
is out "$(at 500 1 info)" "$(at 100 1 info)" "$(at 500 2 info)" "$(at 600 2 info)"

# Malformed lines are counted, and a line longer than any record.
mkdir -p bad/a bad/b
{ echo nonsense && record 100 1 info && printf '[1]\n{"time":3}\n{"time":"20'; } >bad/a/log.jsonl
{ record 200 2 info && head -c 3000000 /dev/zero && echo; } >bad/b/log.jsonl
ends 0 logs bad
is out "$(at 100 1 info)" "$(at 200 2 info)"
is err "starling logs: 5 malformed lines left out, the first at a/log.jsonl:1"

# Many files make one stream.
for i in $(seq 40); do
	mkdir -p many/$i
	for j in $(seq 100 149); do
		echo "{\"time\":\"2026-11-21T12:00:00.$((j + i * 7 % 13))Z\",\"text\":\"$i $j\"}"
	done >many/$i/log.jsonl
done
ends 0 logs many --json
[ "$(wc -l <out)" = 2000 ] || fail "not every record"
cut -c1-34 out | LC_ALL=C sort -c -s || fail "records are not in order"

# Errors.
says 'starling logs: none: No such file or directory' logs none
mkdir empty
says "starling logs: empty: no log.jsonl in it or in its folders; a learner writes one with the setting \`log: log.jsonl\`" logs empty
says "starling logs: --level: 'loud' is not one of debug, info, warn, error" logs --level loud empty
says 'starling logs: --round 0: must be a whole number from 1 to 4294967295' logs --round 0 empty
says "starling logs: give the run folder; see 'starling logs --help'" logs

# A reader that has enough is no failure; a full disk is.
mkdir -p long/a
yes '{"time":"2026-11-21T12:00:00.100Z","text":"x"}' | head -20000 >long/a/log.jsonl
{
	code=0
	"$program" logs long 2>err || code=$?
	echo $code >code
} | head -1 >out
is code 0
is err
code=0
"$program" logs long >/dev/full 2>err || code=$?
[ $code = 1 ] || fail "a full disk is no failure"
is err 'starling logs: cannot write standard output: No space left on device'

# --follow waits for the end of a line, for more lines and for more files; it ends with a signal or its reader.
until_is() { # then the lines of `followed`
	tries=0
	printf '%s\n' "$@" >want
	until cmp -s followed want; do
		[ $((tries += 1)) -lt 1000 ] || fail "followed is: $(cat followed)"
		sleep 0.01
	done
}
mkdir -p live/a live/b
{ record 100 1 info && printf '{"time":"2026-11-21T12:0'; } >live/a/log.jsonl
"$program" logs live --follow >followed &
pid=$!
until_is "$(at 100 1 info)"
echo '0:00.200Z","name":"learner-01","level":"info","event":"e","text":"at 200"}' >>live/a/log.jsonl
until_is "$(at 100 1 info)" "$(at 200 1 info)"
record 300 2 warn >live/b/log.jsonl
until_is "$(at 100 1 info)" "$(at 200 1 info)" "$(at 300 2 warn)"
kill -INT $pid
wait $pid || fail "--follow ends with $?"
{
	timeout 10 "$program" logs run --follow
	echo $? >code
} | head -1 >out
is code 0

# The program names its commands, and what is near a wrong word.
ends 0 --help
has out '  logs ' '  keygen '
ends 0 help logs
mv out help.txt
ends 0 logs --help
cmp out help.txt || fail "help logs is not logs --help"
ends 0 --version
grep -q '^starling [0-9]' out || fail "--version: $(cat out)"
says "starling: unknown command 'lgos'; did you mean 'logs'?" lgos
says "starling: unknown command 'lgos'; did you mean 'logs'?" help lgos
says "starling launch: unknown option '--lerners'; did you mean '--learners'?" launch -n 3 --set --what=1 --lerners 3
says "starling topology analyze: unknown option '--stepps'; did you mean '--steps'?" topology analyze ring --stepps=3
says "starling logs: unknown option '--hepl'; did you mean '--help'?" logs --hepl
says "starling: unknown option '--colour'; see 'starling --help'" --colour
ends 2 logs --colour
has err "starling logs: unrecognized option '--colour'"
ends 2
is out
while read -r old now; do
	refused "$now" "$old" --help
done <<'OLD'
init 'starling keygen'
abandon 'starling abort'
bench starling-bench
sim simtest
reproduce starling-paper
OLD

# keygen prints the roster line and nothing else; it overwrites nothing.
ends 0 keygen --id 3 --name clinic-c --address 10.0.0.3:7400
grep -Eqx -- '- \{id: 3, name: clinic-c, address: "10.0.0.3:7400", key: "sha256:[0-9a-f]{64}"\}' out || fail "$(cat out)"
mv out roster
[ "$(wc -l <roster)" = 1 ] || fail "keygen prints more than its line"
ends 0 keygen --show
cmp out roster || fail "--show shows another line"
ends 0 keygen --show --id 4
sed 's/id: 4/id: 3/' out | cmp - roster || fail "--show --id changes more than the id"
says 'starling keygen: identity/key.pem: exists; an identity is never overwritten' keygen --id 3 --name c --address h:1
is out
rm -r identity
says 'starling keygen: --id 0: must be a whole number from 1 to 4294967295' keygen --id 0 --name c --address h:1
says "starling keygen: --id, --name and --address are needed; see 'starling keygen --help'" keygen --id 1 --name c
says "starling keygen: --address: 'h' is not an address; expected HOST:PORT or [IPV6]:PORT" keygen --id 1 --name c --address h
says 'starling keygen: none/key.pem: No such file or directory' keygen --show --dir none
[ ! -e identity ] || fail "a refused keygen leaves a folder"
