#!/bin/sh
# Standard streams that are closed or full: one line and status 1, no traceback, and no file in the place of a stream. A reader that is
# gone makes no failure a success: streams.sh STARLING STARLINGD
starlingd=$(realpath "$2")
. "${0%/*}/../lib/head.sh"
for i in 1 2 3; do
	"$program" keygen --id $i --name m$i --address "127.0.0.1:740$i" --dir m$i >>roster.yaml 2>err
done
printf 'run: one\nid: 1\nroster: roster.yaml\nidentity: m1\nstate: state\ntrainer: noise\nnoise_parameters: 10\n' >config.yaml

lost() { # WHY, then the program and its arguments: its standard output is `to`
	why=$1
	shift
	for to in '>&-' '>/dev/full'; do
		code=0
		case $to in
		'>&-') "$@" >&- 2>err || code=$? ;;
		*) "$@" >/dev/full 2>err || code=$? ;;
		esac
		[ "$code" = 1 ] && [ "$(wc -l <err)" = 1 ] || fail "$* $to ends with $code"
		has err "$why: cannot write standard output"
	done
}

lost 'starling doctor' "$program" doctor --config config.yaml --json
lost 'starling estimate' "$program" estimate ring -n 6
lost 'starling estimate' "$program" estimate ring -n 6 --json
lost 'starling topology generate' "$program" topology generate ring -n 6
lost 'starling topology augment' "$program" topology augment ring -n 6
for what in --settings --version --help --usage; do
	lost starlingd "$starlingd" $what
done
lost starlingd "$starlingd" --config config.yaml --check
"$starlingd" --config config.yaml --check <&- >out 2>&-
has out 'config.yaml: fine'

# What was found is known before it is printed.
unset PYTHONUNBUFFERED
{
	code=0
	"$program" doctor --config config.yaml --json 2>err || code=$?
	echo "$code" >code
} | :
has code 1
