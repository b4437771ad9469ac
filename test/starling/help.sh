#!/bin/sh
# The help of each command: examples, each on one line of 80 columns: help.sh STARLING
. "${0%/*}/../lib/head.sh"

# A python3 without packages: help needs none.
mkdir bin
printf '#!/bin/sh\nexec "%s" -S "$@"\n' "$(command -v python3)" >bin/python3
chmod +x bin/python3
export PATH="$PWD/bin:$PATH"

# argp itself leaks two bytes in the help of a command that has no options
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

ends 0 --help
commands=$(awk '/^Commands:/ { of = 1; next } /^$/ { of = 0 } of { print $1 }' out)
[ "$(echo "$commands" | wc -l)" -ge 18 ] || fail "the list of commands: $commands"
for name in $commands; do
	case $name in
	topology) names='generate import analyze audit augment' ;;
	account) names='export verify' ;;
	dp) names='plan audit' ;;
	group) names='create invite list remove address set rotate update admins sign export' ;;
	*) names= ;;
	esac
	for part in ${names:-""}; do
		# shellcheck disable=SC2086
		ends 0 $name $part --help
		grep -q '^Examples:$' out || fail "$name $part --help has no examples"
		awk '/^Examples:/ { of = 1; next } /^$/ { of = 0 } of && !/^  / { exit 1 }' out || fail "an example of $name $part is broken"
		for where in '/dev/full' '&-'; do
			code=0
			eval "\"\$program\" $name $part --help >$where 2>err" || code=$?
			[ $code = 1 ] && grep -q 'cannot write standard output' err && [ "$(wc -l <err)" = 1 ] || fail "$name $part --help >$where: $code"
		done
	done
done

# Without numpy: help that is asked for in short, and one line with the remedy from a command that computes.
for name in mean stats export; do
	ends 0 $name --hel
	has out 'Exit status: '
done
echo x >x
for of in 'mean --local 1 2 3' 'export x --npz y'; do
	# shellcheck disable=SC2086
	ends 1 $of
	[ "$(wc -l <err)" = 1 ] && has err 'has no numpy: run python3 -m pip install numpy' || fail "$of without numpy"
done
