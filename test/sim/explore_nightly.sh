#!/bin/sh
# Larger explorations: explore_nightly.sh SIMTEST. A memory limit may end one; a broken rule fails.
set -eu
for what in learners=3,timeouts=1 learners=3,crashes=1,orders=2,mega=6000 learners=3,cuts=1,orders=2,mega=6000 \
	learners=3,crashes=2,orders=0,mega=6000 learners=4,mega=6000 learners=4,crashes=1,orders=1,mega=6000 \
	learners=4,losses=1,tolerates=1,orders=2,mega=6000 learners=4,losses=1,tolerates=1,crashes=1,orders=0,mega=6000 \
	learners=4,losses=1,crashes=1,tolerates=1,orders=0,from=4,absence=8,mega=6000 learners=4,losses=1,tolerates=1,timeouts=1,orders=1,mega=6000 learners=4,forgets=1,orders=1,mega=6000 \
	learners=4,forgetful=1,crashes=1,forgets=1,orders=0,mega=6000 learners=4,splits=1,timeouts=1,orders=0,mega=6000 \
	learners=4,crashes=1,timeouts=1,orders=0,mega=6000 learners=3,mixing=2,crashes=1,orders=1 learners=3,values=2,mega=6000 \
	learners=3,values=1,crashes=1,orders=1,mega=6000; do
	echo "$what"
	"$1" --explore="$what" 2>/dev/null
done
