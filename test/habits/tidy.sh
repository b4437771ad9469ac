#!/bin/sh
# Fail on what clang-tidy 14 finds with the checks of .clang-tidy, and on any warning of clang, in test too: tidy.sh BUILD. The time of
# BUILD/tidy.passed is that of the last run that passed. If no header and no check has changed since then, only sources that have
# changed are checked. What BUILD does not compile, for want of a library, is left out.
cd "$(dirname "$0")/../.." || exit 1
version=$(clang-tidy --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
if [ "$version" != 14 ]; then
	echo "clang-tidy 14 is not installed (apt-get install clang-tidy)"
	exit 77
fi
build=$1
passed=$build/tidy.passed
newer=
if [ -e "$passed" ] && [ -z "$({
	find common daemon tools proto .clang-tidy "$build/compile_commands.json" "$0" ! -name '*.c' -type f -newer "$passed"
	find test -name '*.h' -newer "$passed"
})" ]; then
	newer="-newer $passed"
fi
touch "$passed.next"
sed -n 's,.*"file": "[./]*\(.*\)".*,\1,p' "$build/compile_commands.json" | sort -u >"$build/tidy.sources"

tidy() { # "FOLDER ...", then options
	folders=$1
	shift
	# shellcheck disable=SC2086
	find $folders -name '*.c' $newer -print | grep -Fx -f "$build/tidy.sources" |
		xargs -d '\n' -r -P "$(nproc)" -n 8 clang-tidy -p "$build" --quiet "$@"
}
# A check is needed, or clang-tidy has nothing to do.
tidy "common daemon tools" --extra-arg=-Wreserved-identifier --extra-arg=-Wreserved-macro-identifier &&
	tidy test --checks='-*,clang-diagnostic-*,misc-misplaced-const' &&
	mv "$passed.next" "$passed"
