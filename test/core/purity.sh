#!/bin/sh
# Core and math ask nothing of the world: no clock, no memory, no chance, no output, no loop. What is undefined in their
# archives must be on this list; whoever adds time() or malloc() to them finds out here.
set -eu
status=0
for archive; do
	found=$(nm -u "$archive" | awk '$1 == "U" { print $2 }' | sort -u)
	[ -n "$found" ] || { echo "no symbols read from $archive"; exit 1; }
	bad=$(echo "$found" | grep -vE '^sl_[a-z0-9_]+$' |
		grep -vE '^crypto_(generichash|stream_chacha20)[a-z0-9_]*$|^sodium_(memzero|memcmp|is_zero)$' |
		grep -vE '^(__)?(mem(cpy|move|set|cmp|chr)|str(len|cmp|ncmp|chr|rchr|str|spn|cspn))(_chk)?$|^bcmp$' |
		grep -vE '^(sqrt|pow|ldexp|frexp|log|log1p|exp|expm1|cos|sin|ceil|floor|rint|trunc|fabs|nextafter|copysign|isfinite|isnan|fmin|fmax|fmod)(f|l)?$' |
		grep -vE '^(__assert_fail|abort|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_)$' |
		grep -vE '^__cpu_(model|indicator_init)$' | # which instructions there are
		grep -vE '^__(asan|ubsan|sanitizer|gcov|llvm|udiv|umod|div|mod|mul|popcount)[a-z0-9_]*$' || true)
	bad=$bad$(echo "$found" | grep -xE 'sl_err_set|sl_err_wrap' || true) # they format: not for core and math
	[ -z "$bad" ] || { echo "$archive must not use:"; echo "$bad"; status=1; }
done
exit $status
