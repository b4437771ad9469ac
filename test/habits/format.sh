#!/bin/sh
# Fail on a C file that clang-format would change. Versions differ in what they write: the tree has that of version 14.
cd "$(dirname "$0")/../.." || exit 1
version=$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
if [ "$version" != 14 ]; then
	echo "clang-format 14 is not installed (apt-get install clang-format)"
	exit 77
fi
find common daemon tools test -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror
