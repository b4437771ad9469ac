#!/bin/sh
# Exhaustive explorations that take seconds: explore.sh SIMTEST [quick]
#
# quick: only the small ones, for a build with sanitizers.
#
# Every rule holds in all histories of three learners without a fault, and in those of a usual order of deliveries
# with a crash, a cut, a forgetting at each point; with four learners of whom one is lost for good; and with three of
# whom one is lost and another crashes. The last one of four finds a rule by which a learner that has aborted signs no Digest:
# one is lost, one has aborted, and one returns to find that only two of the three that a commit needs may sign.
# A liar that gives some one Ready and masked state and others another forks nothing.
# So they do in rounds of updates by ranges, whose vectors of 19 elements have counts and are three chunks, and in
# exact ones, of two chunks; and with noise.
# The last one proves that the explorer sees forks: 1 and 2 commit and are cut off, the disk of 3 forgets its Ready,
# and 3, 4 and 5, who know nothing of it, commit another result. `forgetful: yes` forbids that quorum.
set -eu
simtest=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
	echo "$*" >&2
	cat out err >&2
	exit 1
}
explore() {
	code=0
	"$simtest" --explore="$1" >out 2>err || code=$?
	echo "$code"
}
holds() {
	[ "$(explore "$1")" = 0 ] || fail "$1: a rule is broken"
	grep -q "; complete$" out || fail "$1: not complete"
}

holds learners=3,timeouts=1,orders=0
holds learners=4,lies=1,orders=0
holds learners=3,losses=1,orders=0
holds learners=3,values=1,losses=1,orders=0
holds learners=3,values=3,losses=1,orders=0
if [ "${2-}" = quick ]; then
	exit 0
fi
holds learners=3
holds learners=4,orders=1
holds learners=3,timeouts=2,orders=0
holds learners=3,cuts=1,cut_who=1,orders=0
holds learners=3,crashes=1,orders=0
holds learners=5,splits=1,from=3,orders=1,waits=1,absence=1
holds learners=4,splits=1,forgetful=1,from=3,orders=1,waits=4,absence=1
holds learners=3,forgets=1,orders=0
holds learners=4,losses=1,tolerates=1,orders=0
holds learners=3,losses=1,crashes=1,tolerates=1,from=4,orders=0,mega=3000
holds learners=3,mixing=2,crashes=1,fault_who=1,orders=0
holds learners=3,crashes=1,timeouts=1,orders=0,from=4,fault_who=1,absence=4
holds learners=3,values=1,orders=2
holds learners=3,values=2,orders=2
holds learners=4,values=1,lies=1,orders=0
holds learners=3,values=4,crashes=1,orders=0
holds learners=3,values=1,crashes=1,orders=0
holds learners=4,values=1,losses=1,tolerates=1,orders=0
holds learners=3,values=2,mixing=2,crashes=1,fault_who=1,orders=0
holds learners=4,losses=1,cuts=1,cut_who=1,fault_who=2,tolerates=1,from=4,orders=0,absence=12

fork=learners=5,late=2,quorum=3,cuts=1,cut_who=3,group=1,forgets=1,fault_who=4,from=4,orders=0,heals=0,absence=4
forks() {
	[ "$(explore "$1")" = 1 ] || fail "the fork was not found"
	grep -q "^BROKEN: two learners have committed different results" out || fail "another rule was broken"
}
forks $fork
grep -q "^3 crashes and restarts from" out || fail "the history does not name what was forgotten"

[ "$(explore learners=x)" = 2 ] || fail "a wrong value is no usage error"
[ "$(explore help)" = 2 ] || fail "help"
grep -q crashes err || fail "the keys are not listed"
