#!/bin/sh
# `starling logs`, `starling keygen` and the program itself, as a user starts them: logs.sh STARLING
source=$(realpath "${0%/*}/../..")
. "${0%/*}/../lib/head.sh"

is() { # FILE, then what stands in it, line by line
	file=$1
	shift
	: >want
	[ $# = 0 ] || printf '%s\n' "$@" >want
	cmp -s "$file" want || fail "$file is: $(head -c 3000 "$file")"
}
record() { # MS ID LEVEL [REST]
	echo "{\"v\":1,\"time\":\"2026-11-21T12:00:00.$1Z\",\"mono_ms\":$1.5,\"level\":\"$3\",\"learner\":$2,\"name\":\"learner-0$2\",\"event\":\"e\",\"text\":\"at $1\"${4-}}"
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
ends 0 logs run --round 2 --records
is out "$(at 300 1 warn)" "$(at 400 2 error)"
ends 0 logs --learner 2 --level info run
is out "$(at 250 2 info)" "$(at 400 2 error)"
ends 0 logs --learner learner-01 --level=error run
is out
says "starling logs: run: no record of learner '3'; there are learner-01 (1), learner-02 (2)" logs run --learner 3
is out
ends 2 logs run --learner learner-2
says "starling logs: run: no record of round 9; there are rounds 1 to 2" logs run --round 9
is out
says "starling logs: run: no record of round 9; there are rounds 1 to 2" logs run --round 9 --records
is out
says "starling logs: run: no record of round 9; there are rounds 1 to 2" logs run --round 9 --json
is out
is err "starling logs: run: no record of round 9; there are rounds 1 to 2"
{ cat run/learner-02/log.jsonl && record 500 2 error ',"round":2' | sed 's/"at 500"/"a\\u001b[2Jb\\rc"/'; } >escapes
ends 0 logs escapes --round 2
grep -q 'a?\[2Jb?c' out || fail "control characters of a log: $(cat -v out)"
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
{ echo nonsense && record 100 1 info && printf '[1]\n{"time":3}\n{"v":1,"time":"20'; } >bad/a/log.jsonl
{ record 200 2 info && head -c 3000000 /dev/zero && echo; } >bad/b/log.jsonl
ends 0 logs bad
is out "$(at 100 1 info)" "$(at 200 2 info)"
is err "starling logs: 5 malformed lines left out, the first at a/log.jsonl:1"

# No record at all is a failure.
printf 'x\ny\n' >neither
for how in '' --json --stats '--level warn'; do
	# shellcheck disable=SC2086
	ends 1 logs neither $how
	is err 'starling logs: 2 malformed lines left out, the first at neither:1' 'starling logs: neither: no line is a record of a learner'
done

# Files are closed.
for how in '' --stats '--peer 1'; do
	# shellcheck disable=SC2086
	PYTHONWARNINGS=error::ResourceWarning "$program" logs run $how >out 2>err || fail "logs $how"
	is err
done

# Many files make one stream.
for i in $(seq 40); do
	mkdir -p many/$i
	for j in $(seq 100 149); do
		echo "{\"v\":1,\"time\":\"2026-11-21T12:00:00.$((j + i * 7 % 13))Z\",\"text\":\"$i $j\"}"
	done >many/$i/log.jsonl
done
ends 0 logs many --json
[ "$(wc -l <out)" = 2000 ] || fail "not every record"
cut -c1-40 out | LC_ALL=C sort -c -s || fail "records are not in order"

# Errors.
says 'starling logs: none: No such file or directory' logs none
mkdir empty
says "starling logs: empty: no log.jsonl in it or in its folders; a learner writes one with the setting \`log: log.jsonl\`" logs empty
says "starling logs: --level: 'loud' is not one of debug, info, warn, error" logs --level loud empty
says 'starling logs: --round 0: must be a whole number from 1 to 4294967295' logs --round 0 empty
says "starling logs: give a run folder or log files; of a learner of systemd: journalctl -u starlingd@GROUP -o cat --output-fields=STARLING_JSON >log.jsonl; see 'starling logs --help'" logs

# Records of another version are left out; a folder and files may be mixed, and name a log twice.
mkdir -p other/a
{ record 100 1 info && record 200 1 info | sed 's/"v":1/"v":2/' && record 300 1 info | sed 's/"v":1,//'; } >other/a/log.jsonl
ends 0 logs other run/learner-01/log.jsonl other/a/log.jsonl
is out "$(at 100 1 info)" "$(at 100 1 info)" "$(at 300 1 warn)"
is err "starling logs: 2 records of another version left out, the first at other/a/log.jsonl:2"

# Filters by peer and phase.
mkdir -p peers/a peers/b
{ record 100 1 info ',"peer":2' && record 200 1 info ',"awaited":[2,3],"phase":"MIX"' && record 300 1 info ',"peer":3'; } >peers/a/log.jsonl
record 400 2 info >peers/b/log.jsonl
record 500 1 warn ',"peers":[2]' >>peers/a/log.jsonl
ends 0 logs peers --peer 2
is out "$(at 100 1 info)" "$(at 200 1 info)" "$(at 500 1 warn)"
ends 0 logs peers --peer learner-02 --phase mix
is out "$(at 200 1 info)"

# A run of three, with two attempts (test/timeline/timeline_units.py): one stream, in the order of
# what happened.
for name in ana bo eve; do
	mkdir -p three/$name
	cp "$source/test/data/logs/$name.jsonl" three/$name/log.jsonl
done
ends 0 logs three --level warn
is out '10:00:11.450 bo warn  waiting    round 1 attempt 1: waiting for eve (3) to send shares' \
	'10:00:11.460 bo warn  attempt_failed round 1 attempt 1 ended: no data came from eve (3) for 10 s' \
	'10:00:11.470 ana warn  attempt_failed round 1 attempt 1 ended: bo (2) has aborted the attempt' \
	'10:00:17.900 bo warn  refused    h:9 connected with a key that is not in the roster'
ends 0 logs three --round 1
has out 'Round 1 of three began at 10:00:00.100 UTC and was committed 13.4 s later, in 2 attempts.' \
	'Attempt 1 ended after 10.5 s without a commit: no data came from eve (3) for 10 s. 3 participants, 2 links' \
	'Attempt 2 committed after 1.98 s.' 'mixing forest in 2 exchanges. Once all are Ready, it needs all participants.' \
	'Cut vertices, without which the graph is not connected: bo (2).' \
	'Same: all 3 learners whose results are logged have model 0123456789abcdef; largest rounding margin 0.1250' \
	'Private: the privacy check of every participant passed before it sent a share.' \
	'Slowest: eve (3), 11.5 s in share' '  bo (2) waited 10.0 s in share for eve (3) to send shares' \
	'  share              3    10.071    11.599    11.599  eve (3)'
cp -r three ahead
sed -i 's/"time":"2026-11-23T10:/"time":"2026-11-23T11:/' ahead/bo/log.jsonl
ends 0 logs ahead --round 1
has out 'The clock of bo (2) is at least 3599.983 s ahead of that of ana (1). Times are as they were logged.'
ends 0 logs ahead --stats
has out 'The clock of bo (2) is at least 3599.983 s ahead of that of ana (1). Times are as they were logged.'
cp -r three slept
sed -i 's/"train_s":4.0/"train_s":0.4/' slept/ana/log.jsonl
ends 0 logs slept --round 2
has out 'Slowest: ana (1), 4.01 s in train; the median learner needed ' \
	' Its training took 0.40 s of that: it was stopped or overloaded, or its application came late.'
mkdir killed
sed '/"mono_ms":1001452.0/a {"v":1,"time":"2026-11-23T10:00:01.470Z","mono_ms":1001470.0,"level":"info","learner":1,"name":"ana","event":"listening","text":"listening on h:1"}' \
	three/ana/log.jsonl >killed/log.jsonl
ends 0 logs killed/log.jsonl --round 1
has out 'ana (1) was started again at 10:00:01 UTC (in share of attempt 1).'
ends 0 logs three/eve/log.jsonl --round 1
has out 'Round 1 began at ' '2 links (1 of them in these logs)'
ends 0 logs three --round 1 --level warn --learner 2 --json
[ "$(wc -l <out)" = 2 ] || fail "not the warnings of bo in round 1"
ends 0 logs three --stats
has out 'Rounds committed: 2; attempts: 3, of which 1 failed; all learners have the same models.' \
	'  train              6     1.006     4.007     4.007  ana (1), round 2' '  eve (3) in 1 round'
ends 2 logs three --stats --round 1
cat >check_trace.py <<'CHECK'
import json, sys
trace = json.load(open(sys.argv[1]))
events = trace['traceEvents']
# The keys of the Trace Event Format: complete events in microseconds, instants with a scope, names of processes and threads.
keys = {'X': {'ts', 'dur'}, 'i': {'ts', 's'}, 'M': set()}
assert trace['displayTimeUnit'] in ('ms', 'ns'), trace['displayTimeUnit']
named = {(e['pid'], e['tid']) for e in events if e['name'] == 'thread_name'}
for e in events:
    assert set(e) == {'ph', 'name', 'pid', 'tid', 'args'} | keys[e['ph']], e
    assert isinstance(e['pid'], int) and isinstance(e['tid'], int) and isinstance(e['args'], dict) and e['name'], e
    assert all(e[key] >= 0 for key in ('ts', 'dur') if key in e) and e.get('s', 'p') in 'gpt', e
    assert e['ph'] != 'M' or e['name'] in ('process_name', 'thread_name') and isinstance(e['args']['name'], str), e
    assert e['ph'] == 'M' or (e['pid'], e['tid']) in named, e
# Slices of a track follow each other: those that overlap in part would not be shown.
for track in named:
    last = None
    for e in sorted((e for e in events if e['ph'] == 'X' and (e['pid'], e['tid']) == track), key=lambda e: (e['ts'], e['dur'])):
        assert last is None or last['ts'] + last['dur'] <= e['ts'], (last, e)
        last = e
CHECK
ends 0 logs three --trace trace.json
python3 check_trace.py trace.json || fail "trace.json: not as documented"
python3 - <<'CHECK'
import json
events = json.load(open('trace.json'))['traceEvents']
assert {e['args']['name'] for e in events if e['name'] == 'process_name'} == {'ana (1)', 'bo (2)', 'eve (3)'}
slices = {(e['pid'], e['tid'], e['name'], e['args']['round']): e for e in events if e['ph'] == 'X'}
assert abs(slices[1, 1, 'train', 2]['dur'] - 4007000) < 1000, slices[1, 1, 'train', 2]
assert slices[2, 2, 'to send shares', 1]['args']['awaited'] == [3]
assert len([e for e in events if e['ph'] == 'i' and e['name'] == 'committed']) == 6
CHECK
# A wait whose rounded duration reaches back into the one before.
mkdir close
while read -r ms fields; do
	echo "{\"v\":1,\"time\":\"2026-11-23T10:00:0${ms%???}.${ms#?}Z\",\"mono_ms\":$ms,\"level\":\"info\",\"learner\":1,\"name\":\"ana\",\"text\":\"t\",\"round\":1,\"attempt\":1,$fields}"
done >close/log.jsonl <<'RECORDS'
1000 "event":"phase","phase":"SHARE"
2000 "event":"waiting","phase":"SHARE","for":"to send shares","awaited":[2],"waited_s":1.0
3000 "event":"waited","phase":"SHARE","for":"to send shares","awaited":[2],"waited_s":2.0
3000 "event":"phase","phase":"READY"
4000 "event":"waiting","phase":"READY","for":"to be ready","awaited":[2],"waited_s":1.01
5000 "event":"waited","phase":"READY","for":"to be ready","awaited":[2],"waited_s":2.01
5000 "event":"phase","phase":"RELEASE"
6000 "event":"phase","phase":"MIX"
RECORDS
ends 0 logs close --trace close.json
grep -c '"tid":2,"ts"' close.json | grep -qx 2 || fail "not two waits: $(cat close.json)"
python3 check_trace.py close.json || fail "close.json: not as documented"
ends 1 logs three --trace none/trace.json
has err 'starling logs: none/trace.json: No such file or directory'

# It is Python.
code=0
PATH=$PWD/nothing "$program" logs three 2>err || code=$?
[ $code = 1 ] || fail "without python3: exit status $code"
is err 'starling logs: python3 cannot be started: No such file or directory (Debian: apt-get install python3)'

# starling-log(5) has all levels of an event.
"$source/deploy/man/insert-records" "$source/deploy/man/starling-log.5.scd.in" "$source/common/report/record_table.h" \
	"$source/common/config/envelope.h" >out
has out '*waiting* (info, warn)' '*waited* (debug)'

# The examples of the man page with jq, on this run.
if command -v jq >/dev/null; then
	sed -n 's/^starling logs RUNFOLDER \(.*--json | jq.*\)$/\1/p' "$source/deploy/man/starling-logs.1.scd" | sed 's/\\\\/\\/g' >examples
	[ "$(wc -l <examples)" = 5 ] || fail "the man page has not five examples with jq"
	while read -r example; do
		eval "\"$program\" logs three $example" 2>err
	done <examples >out
	has out '{"learner":3,"phase":"share","s":11.5' '[2,"share","to send shares",[3]]' \
		'1.1 bo: no data came from eve (3) for 10 s' '2 bo 1700 fedcba98' 'commit 0.'
else
	echo "logs.sh: no jq: the examples of the man page are not run" >&2
fi

# A reader that has enough is no failure; a full disk is.
mkdir -p long/a
yes '{"v":1,"time":"2026-11-21T12:00:00.100Z","text":"x"}' | head -20000 >long/a/log.jsonl
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
ends 1 logs /proc/self/mem # not one of standard output
is err 'starling logs: /proc/self/mem: Input/output error'

# --follow waits for the end of a line, for more lines and for more files; it ends with a signal or its reader.
until_is() { # then the lines of `followed`
	printf '%s\n' "$@" >want
	until cmp -s followed want; do sleep 0.01; done
}
mkdir -p live/a live/b
{ record 100 1 info && printf '{"v":1,"time":"2026-11-21T12:0'; } >live/a/log.jsonl
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
	"$program" logs run --follow
	echo $? >code
} | head -1 >out
is code 0

# pyenv runs what has ' -m pip ' among its arguments in a shell of its own.
mkdir stand-in
printf '#!/bin/sh\necho " $* "\n' >stand-in/python3
chmod +x stand-in/python3
PATH=$PWD/stand-in:$PATH "$program" logs run >out
! grep -q ' -m pip ' out || fail "pyenv takes this for pip: $(cat out)"
grep -q 'starling_timeline.__main__ starling logs run $' out || fail "how python3 is started: $(cat out)"

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
says "starling logs: unknown option '--hepl'; did you mean '--help'?" logs --hepl run
says "starling logs: unrecognized arguments: --quick; see 'starling logs --help'" logs --quick run
says "starling: unknown option '--colour'; see 'starling --help'" --colour
ends 2
is out

# keygen prints the roster line and nothing else; it overwrites nothing.
ends 0 keygen --id 3 --name clinic-c --address 10.0.0.3:7400
grep -Eqx -- '- \{id: 3, name: clinic-c, address: "10.0.0.3:7400", key: "sha256:[0-9a-f]{64}"\}' out || fail "$(cat out)"
mv out roster
[ "$(wc -l <roster)" = 1 ] || fail "keygen prints more than its line"
ends 0 keygen --show
cmp out roster || fail "--show shows another line"
ends 0 keygen --show --id 4
sed 's/id: 4/id: 3/' out | cmp - roster || fail "--show --id changes more than the id"
[ ! -s err ] || fail "$(cat err)"
ends 0 keygen --show --address 0.0.0.0:7400
is err 'Other machines may be unable to reach 0.0.0.0:7400, which leads each machine to itself; to correct it: change it in the roster'
ends 0 keygen --id 3 --name c --address 224.0.0.1:7400 --dir other
has err 'Other machines may be unable to reach 224.0.0.1:7400, which is the address of no machine; to correct it: change it in the roster'
says 'starling keygen: identity/key.pem: exists; an identity is never overwritten' keygen --id 3 --name c --address h:1
is out
rm identity/cert.pem
ends 0 keygen
is err 'The certificate is made again, from identity/key.pem; the key is the same.'
ends 0 keygen --show
cmp out roster || fail 'the line of another key'
rm -r identity
says 'starling keygen: --id 0: must be a whole number from 1 to 4294967295' keygen --id 0 --name c --address h:1
says "starling keygen: --id, --name and --address are needed; see 'starling keygen --help'" keygen --id 1 --name c
says "starling keygen: --address: 'h' is not an address; expected HOST:PORT or [IPV6]:PORT" keygen --id 1 --name c --address h
says 'starling keygen: none/key.pem: No such file or directory' keygen --show --dir none
[ ! -e identity ] || fail "a refused keygen leaves a folder"
