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

# On a terminal of 80 x 24: the worst first, no line wider, every key but q goes on, and the terminal is as before.
cat >watch.py <<'PYTHON'
import fcntl, os, pty, re, struct, sys, termios, time
pid, fd = pty.fork()
if pid == 0:
    os.environ['TERM'] = 'xterm'
    os.execv(sys.argv[1], ['starling', 'status', '--watch', 'run'])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
before, text, end = termios.tcgetattr(fd), b'', time.monotonic() + 30
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

# In a pipe: a line for each learner, and no control character.
timeout 2 "$program" status --watch run >out 2>err || :
[ "$(wc -l <out)" = 100 ] || fail 'a line for each change'
! grep -q "$(printf '\033')" out || fail 'a control character in a pipe'
