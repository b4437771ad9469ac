#!/bin/sh
# The flags of each built program and library that make a memory error harder to use: hardening.sh FILE...
# Code at a random place (PIE), relocations that are read-only after the start (RELRO, BIND_NOW), no stack that is code, no memory that
# is both written and run, canaries, and calls of the C library with the size of their destination.
set -eu
failed=0
wrong() {
	echo "$1: $2" >&2
	failed=1
}
for file; do
	headers=$(readelf --wide --file-header --program-headers --dynamic "$file")
	symbols=$(readelf --wide --dyn-syms "$file")
	has() { printf '%s\n' "$headers" | grep -Eq "$1"; }
	has '^ *Type: +DYN' || wrong "$file" 'is at a fixed place: link it with -pie'
	has '^ *GNU_RELRO' || wrong "$file" 'has no read-only relocations: link it with -z relro'
	has '\(FLAGS_1\).*NOW|\(BIND_NOW\)' || wrong "$file" 'binds symbols late: link it with -z now'
	has '^ *GNU_STACK .* RW ' || wrong "$file" 'may have a stack that is code'
	! has '^ *LOAD .* RWE ' || wrong "$file" 'has memory that is both written and run'
	! has '\((RPATH|TEXTREL)\)' || wrong "$file" 'has relocations in its code, or a path of its own before that of the system'
	printf '%s\n' "$symbols" | grep -q '__stack_chk_fail' || wrong "$file" 'has no canaries: compile it with -fstack-protector-strong'
	printf '%s\n' "$symbols" | grep -Eq '__(mem|str|v?s?n?printf|f?read|recv|poll)[a-z]*_chk' ||
		wrong "$file" 'has no calls with checked sizes: compile it with -D_FORTIFY_SOURCE=2'
done
exit $failed
