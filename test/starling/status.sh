#!/bin/sh
# `starling status` of learners that have ended, and its full screen: status.sh STARLING
. "${0%/*}/../lib/head.sh"

# A hundred learners, of which the log of each says what it did last.
for i in $(seq -w 1 100); do
	mkdir -p "run/learner-$i/state"
	: >"run/learner-$i/state/lock"
	id=$(expr "$i" + 0)
	echo "{\"time\":\"2026-11-21T12:00:00.000Z\",\"level\":\"info\",\"learner\":$id,\"name\":\"learner-$i\",\"event\":\"committed\",\"round\":$id,\"text\":\"round $id committed\"}" >"run/learner-$i/log.jsonl"
done
ends 2 status run
has out '100 learners: 100 stopped' 'xlearner-007' 'killed; last record: 2026-11-21T12:00:00 committed: round 7 committed'
ends 2 status --json run
has out '"exit_status": 2' '"state": "stopped"' '"committed": 100'
printf 'round 7\nstep 1\nverified 3\n' >run/progress.txt
ends 2 status run
[ "$(grep -c 'exact$' out)" = 3 ] || fail "three learners have a verified round"

# A name that no roster can have is not cut within a character: the learner would be missing.
mkdir -p name/a/state
: >name/a/state/lock
echo "{\"time\":\"2026-11-21T12:00:00.000Z\",\"learner\":1,\"name\":\"a$(printf 'é%.0s' $(seq 40))\",\"event\":\"committed\",\"round\":1}" >name/a/log.jsonl
ends 2 status --json name
has out '"learner": "a"'

# What was spent is known after the end; state and log are where starlingd.yaml has them.
mkdir -p made/ana elsewhere
: >elsewhere/lock
: >made/ana/identity
printf 'run: r\nid: 1\nroster: roster.yaml\nidentity: identity\nstate: ../../elsewhere\nlog: ../../elsewhere/ana.jsonl\n' >made/ana/starlingd.yaml
cat >elsewhere/ana.jsonl <<'END'
{"v":1,"time":"2026-11-21T12:00:00.000Z","level":"info","learner":1,"name":"ana","event":"charged","round":3,"attempt":1,"epsilon":2.5,"epsilon_unsampled":4.5,"delta":1e-05,"budget":3.0}
{"v":1,"time":"2026-11-21T12:00:01.000Z","level":"info","learner":1,"name":"ana","event":"finished","text":"all 3 rounds are committed"}
END
ends 2 status made
has out '1 learner: 1 finished' 'privacy spent: epsilon 2.500 of 3 (4.500 without sampling) at delta 1e-05, by ana'
rm elsewhere/lock
ends 2 status made
has out '1 not started yet' 'has begun no round'

# Without a log, the state folder tells that the run is over.
mkdir -p over/state/checkpoints
: >over/state/lock
for id in 3 2 1; do
	rm -rf over/identity
	"$program" keygen --id $id --name ana$id --address "127.0.0.1:740$id" --dir over/identity >>over/roster.yaml 2>err
done
printf 'run: r\nid: 1\nroster: roster.yaml\nidentity: identity\nstate: state\nrounds: 3\ntrainer: noise\nnoise_parameters: 10\n' >over/starlingd.yaml
ln -s round-000002.safetensors over/state/checkpoints/latest.safetensors
ends 2 status over
has out 'xana1 ' '2/3' 'its last lines in the journal' '1 learner: 1 stopped'
"$program" doctor --config over/starlingd.yaml >out 2>err || :
has out 'warn  learner: it is not running; start it'
mkdir -p fresh/1
cp -r over/identity over/roster.yaml over/starlingd.yaml fresh/1
ends 2 status fresh
has out 'xana1 ' 'has begun no round'
ln -sf round-000003.safetensors over/state/checkpoints/latest.safetensors
ends 2 status over
has out '3/3' 'all 3 rounds are committed' '1 learner: 1 finished'
"$program" doctor --config over/starlingd.yaml >out 2>err || :
has out 'ok    learner: it has finished: all 3 rounds are committed'

# A log that is a pipe is not waited for.
mkdir -p pipe/a/state
: >pipe/a/state/lock
mkfifo pipe/a/log.jsonl
status=0
"$program" status pipe >out 2>err || status=$?
[ $status -eq 2 ] || fail "status $status, not 2, where the log is a pipe"

# On a terminal of 80 x 24: the worst first, no line wider, every key but q goes on, and the terminal is as before.
cat >watch.py <<'PYTHON'
import fcntl, os, pty, re, struct, sys, termios, time
pid, fd = pty.fork()
if pid == 0:
    os.environ['TERM'] = 'xterm'
    os.execv(sys.argv[1], ['starling', 'status', '--watch', 'run'])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
before, text, end = termios.tcgetattr(fd), b'', time.monotonic() + 600
def read_until(part):
    global text
    while part not in text:
        assert time.monotonic() < end, text
        text += os.read(fd, 65536)
read_until(b'\033[J')
text = b''
os.write(fd, b'x')
read_until(b'\033[J')
frame = text
os.write(fd, b'q')
read_until(b'\033[?1049l')
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2
after = termios.tcgetattr(fd)
assert after[3] == before[3], 'the terminal is not as before'
lines = re.sub(rb'\033\[[?0-9]*[A-Za-z]', b'', frame).replace(b'\r', b'').split(b'\n')
assert len(lines) <= 24 and all(len(line) <= 80 for line in lines), lines
assert b'learner-001' in lines[3], lines
assert any(b'more, none of them worse' in line for line in lines), lines
assert frame.startswith(b'\033[H') or b'\033[H' in frame[:20] and b'\033[2J' not in frame, frame[:20]
PYTHON
/usr/bin/python3 watch.py "$program" || fail 'the full screen'

# What a learner lacks is not cut where the terminal ends.
mkdir -p wide/a/state
: >wide/a/state/lock
echo "{\"time\":\"2026-11-21T12:00:00.000Z\",\"level\":\"warn\",\"learner\":1,\"name\":\"a\",\"event\":\"waiting\",\"text\":\"waiting for bo (5) to be ready: 1 of 2 learners is connected, and the quorum is 2; missing: bo (5): start it, or check its links\"}" >wide/a/log.jsonl
cat >wrap.py <<'PYTHON'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 60, 0, 0))
    os.execv(sys.argv[1], [sys.argv[1], 'status', 'wide'])
text = b''
try:
    while more := os.read(fd, 65536):
        text += more
except OSError:
    pass
lines = text.decode().split('\r\n')
assert all(len(line) <= 60 for line in lines), lines
assert 'missing: bo (5): start it, or check its links' in ' '.join(' '.join(lines).split()), lines
PYTHON
/usr/bin/python3 wrap.py "$program" || fail 'a long line'

# In a pipe: a line for each learner, and no control character.
"$program" status --watch run >out 2>err &
watch=$!
until [ "$(wc -l <out)" -ge 100 ]; do sleep 0.1; done
sleep 2 # it has looked again
kill $watch
wait $watch || :
[ "$(wc -l <out)" = 100 ] || fail 'a line for each change'
! grep -q "$(printf '\033')" out || fail 'a control character in a pipe'

# The launcher ends learners after the last round: they have finished. In a pipe, --watch ends with the run.
mkdir -p done/a/state
: >done/a/state/lock
record='"v":1,"time":"2026-11-21T12:00:00.000Z","level":"info","learner":1,"name":"a","round":2'
{
	echo "{$record,\"event\":\"phase\",\"phase\":\"DONE\",\"text\":\"round 2: DONE\"}"
	echo "{$record,\"event\":\"stopping\",\"text\":\"ended by command\"}"
} >done/a/log.jsonl
ends 2 status done
has out ' finished ' '1 learner: 1 finished' 'ended by command'
echo "{$record,\"event\":\"application\",\"text\":\"the application (process 9) has left\"}" >>done/a/log.jsonl
ends 2 status done
has out '1 learner: 1 finished' 'ended by command'
"$program" status --watch done >out 2>err && code=0 || code=$?
[ $code = 2 ] || fail "--watch of a finished run ends with $code"
has out 'a: finished'
echo "{$record,\"event\":\"phase\",\"phase\":\"TRAIN\",\"text\":\"round 3: TRAIN\"}" >>done/a/log.jsonl
ends 2 status done
has out '1 learner: 1 stopped'

# A socket without a learner, and one that cannot be asked: only the first is known not to run.
ln -s loop loop
ends 0 stop --control none
has out 'none: is not running'
ends 1 reload --control none
has err 'none: is not running'
ends 2 status --control none
has out '1 stopped'
for name in stop reload; do
	ends 1 $name --control loop
	has err 'loop: Too many levels of symbolic links'
done
ends 1 status --control loop
has out '1 silent' 'cannot be asked: Too many levels'

# Control sockets that lie, and one that hangs.
mkdir -p lies/a lies/b lies/c
cat >sockets.py <<'PYTHON'
import json, socket, sys, threading
def answer(end, name, at):
    with end.accept()[0] as one:
        one.recv(4096)
        problem = {'at': at, 'level': 'warn', 'event': 'x', 'text': f'warning of {at}'}
        one.sendall(json.dumps({'ok': True, 'id': 1, 'name': name, 'round': 1, 'rounds': 2, 'phase': '\x1b[31mMIX\x9b', 'last_problem': problem, 'last_commit': {'at': '2026-11-21T12:00:01Z'},
                                'peers': [{'id': 9, 'name': '\x1b]0;x\x07'}]}).encode() + b'\n')
ends = {name: socket.socket(socket.AF_UNIX) for name in 'abc'}
for name, end in ends.items():
    end.bind(f'lies/{name}/control.sock')
    end.listen()
print('ready', flush=True)
for name, at in (('a', '2026-11-21T12:00:00.100Z'), ('b', '2026-11-21T12:00:00.700Z')):
    threading.Thread(target=lambda name=name, at=at: [answer(ends[name], '\x1b[2J' + name, at) for _ in range(3)], daemon=True).start()
sys.stdin.read()
PYTHON
mkfifo hold ready
/usr/bin/python3 sockets.py <hold >ready &
sockets=$!
exec 3>hold
read -r _ <ready
ends 1 status lies
LC_ALL=C grep -q "$(printf '[\033\233\007]')" out && fail 'a control character of a learner'
has out '?[2Ja ' '?[31mMIX' '2 making progress, 1 silent' ': warning of 2026-11-21T12:00:00.700Z'
grep -Eq '^last warning, [0-9.]+[smhd] ago, before its last commit, \?\[2Jb: ' out || fail 'no age of the last warning'
"$program" stop --timeout 2 lies >out 2>err && code=0 || code=$?
[ $code = 1 ] || fail "stop of a hanging learner ends with $code"
has err 'starling stop: c: does not answer: stopped by a signal (kill -CONT), or its disk hangs; it may still do it'
exec 3>&-
wait $sockets
