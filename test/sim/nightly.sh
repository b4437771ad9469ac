#!/bin/sh
# 200,000 seeds that no other day plays: nightly.sh STARLING
set -eu
day=$(($(date +%s) / 86400))
exec "$1" sim --seed $((day * 1000000)) --seeds 200000
