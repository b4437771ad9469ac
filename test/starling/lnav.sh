#!/bin/sh
# lnav takes the format file and reads records with it: lnav.sh FORMAT. Skipped where there is no lnav.
set -eu
format=$(realpath "$1")
command -v lnav >/dev/null || { echo "there is no lnav" >&2; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME="$folder"
cat >log.jsonl <<'LOG'
{"v":1,"time":"2026-11-23T10:56:52.357Z","mono_ms":1.5,"level":"info","learner":3,"name":"ana","event":"training","text":"round 5: training","round":5}
{"v":1,"time":"2026-11-23T10:56:53.357Z","mono_ms":2.5,"level":"warn","learner":3,"name":"ana","event":"penalty","text":"round 5: x","round":5,"attempt":2,"peers":[1]}
LOG
lnav -i "$format" >/dev/null
lnav -C
lnav -n log.jsonl >text
printf '%s\n' '10:56:52.357 ana        info  training       round 5: training' '10:56:53.357 ana        warning penalty        round 5: x' >expected
sed 's/  *$//' text | diff expected - || { echo "lnav shows other lines" >&2; exit 1; }
[ "$(lnav -n -c ";SELECT max(attempt) FROM starling_log" log.jsonl | tail -n 1 | tr -d ' ')" = 2 ]
