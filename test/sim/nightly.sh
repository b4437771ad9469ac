#!/bin/sh
# Play 200,000 seeds, others every day: nightly.sh SIMTEST
set -eu
day=$(($(date +%s) / 86400))
exec "$1" --seed $((day * 1000000)) --seeds 200000
