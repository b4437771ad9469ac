#!/bin/sh
# The header of libstarling by itself, and its example as three learners: example.sh STARLING EXAMPLE HEADER
example=$(realpath "$2")
. "$(dirname "$0")/../lib/head.sh"
starling=$program

cc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c "$3"
if command -v c++ >/dev/null; then
	c++ -std=c++98 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c++ "$3"
fi

# The mean of the lines of three learners, at all of them the same: y = 2 x - 1.
"$starling" launch -n 3 --rounds 40 --set weighting=samples --set max_weight=30 --verify --run-dir run -- "$example" \
	>out 2>err || fail "the run failed"
grep -q '40 of 40 rounds, all exact' out || fail "the rounds are not exact"
sort -u run/learner-0*/output.txt >lines
[ "$(wc -l <lines)" -eq 1 ] || fail "not the same line at all learners"
grep -q '^y = \(1.9[5-9]\|2.0[0-4]\). x -\(0.9[5-9]\|1.0[0-4]\).$' lines || fail "not the line: $(cat lines)"

# Without a learner.
status=0
env -u STARLING_SOCKET "$example" >out 2>err || status=$?
[ $status -eq 1 ] && grep -q '^example: STARLING_SOCKET is not set: start this program by `starling launch' err ||
	fail "a missing socket is not named"
