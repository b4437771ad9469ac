#!/bin/sh
# The math layer asks nothing of the world: no clock, no memory, no chance, no output. Its undefined symbols say so.
set -eu
found=$(nm -u "$1" | awk '$1 == "U" { print $2 }' | sort -u)
[ -n "$found" ] || { echo "no symbols read from $1"; exit 1; }
bad=$(echo "$found" | grep -E \
	'^(_*(v?[fs]n?|vd|d|vas|as)?printf(_chk)?|f?puts|f?putc(har)?|fwrite|fopen|open|read|write|perror|stderr|stdout|time|gettimeofday|clock(_.*)?|nanosleep|malloc|calloc|realloc|reallocarray|free|aligned_alloc|posix_memalign|s?rand(om)?(_r)?|[a-z]*rand48|getrandom|getentropy|arc4random.*|randombytes.*|sodium_malloc|sodium_allocarray|getenv|pthread_.*)$' \
	|| true)
[ -z "$bad" ] || { echo "libmath must not use:"; echo "$bad"; exit 1; }
