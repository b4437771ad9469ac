#!/bin/sh
# Fail on a misspelt word. IGNORE: the suffix of "2nd", an argument of R's confint, and misspellings that tests hand to a program.
IGNORE=nd,parm,nmae,nodel,regualr
cd "$(dirname "$0")/../.." || exit 1
if ! command -v codespell >/dev/null; then
	echo "codespell is not installed (apt-get install codespell)"
	exit 77
fi
codespell --ignore-words-list "$IGNORE" --skip 'test/data' common daemon deploy proto test tools meson.build ./*.md .ci
