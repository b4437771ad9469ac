# Sourced first: the program that argument 1 names, an empty folder to work in, and what all scripts expect.
set -eu
starling=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
	echo "${0##*/}: $*" >&2
	exit 1
}

has() { # FILE, then what stands in it
	file=$1
	shift
	for part in "$@"; do
		grep -qF -e "$part" "$file" || fail "no $part in $(cat "$file")"
	done
}

# Bad input: one line, status 2.
refused() { # WHY, then what `starling topology` is asked
	wanted=$1
	shift
	status=0
	"$starling" topology "$@" >out.txt 2>err.txt || status=$?
	[ $status = 2 ] || fail "$* ended with $status"
	[ ! -s out.txt ] || fail "$* answers nevertheless"
	[ "$(wc -l <err.txt)" = 1 ] || fail "$* says: $(cat err.txt)"
	grep -qF -e "$wanted" err.txt || fail "$* says: $(cat err.txt)"
}
