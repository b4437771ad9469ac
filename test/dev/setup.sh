#!/bin/sh
# tools/setup takes no option for a folder: setup.sh SETUP
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
	echo "setup.sh: $*" >&2
	exit 1
}
"$1" --help >"$folder/out" || fail '--help'
grep -q 'build into FOLDER' "$folder/out" || fail '--help says nothing'
code=0
"$1" --nothing 2>"$folder/err" || code=$?
[ $code = 2 ] || fail "an unknown option ends with $code"
grep -q "unknown option '--nothing'" "$folder/err" || fail 'an unknown option is not named'
