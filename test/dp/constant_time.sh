#!/bin/sh
# Drawing noise takes no branch and no index from the key: constant_time.sh PROGRAM
command -v valgrind >/dev/null || exit 77
exec valgrind -q "$1"
