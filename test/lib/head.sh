# Sourced first: the program that argument 1 names, an empty folder to work in, and functions that every script uses.
set -eu
program=$(realpath "$1")
command= # of the program, before the arguments of `status` and `refused`
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
	echo "${0##*/}: $*" >&2
	cat out err >&2 2>/dev/null || :
	exit 1
}

has() { # FILE, then what stands in it
	file=$1
	shift
	for part in "$@"; do
		grep -qF -e "$part" "$file" || fail "no $part in $file: $(head -c 3000 "$file")"
	done
}

# Run the program and print its status; what it prints goes to the files out and err.
status() {
	code=0
	# shellcheck disable=SC2086
	"$program" $command "$@" >out 2>err || code=$?
	echo "$code"
}

ends() { # STATUS, then the arguments
	wanted=$1
	shift
	[ "$(status "$@")" = "$wanted" ] || fail "$* does not end with $wanted"
}

# Bad input: one line, status 2.
refused() { # WHY, then the arguments
	wanted=$1
	shift
	[ "$(status "$@")" = 2 ] || fail "$* is not refused"
	[ ! -s out ] || fail "$* answers nevertheless"
	[ "$(wc -l <err)" = 1 ] || fail "$* says: $(cat err)"
	grep -qF -e "$wanted" err || fail "$* says: $(cat err)"
}
