#!/bin/sh
# Learners with three threads each under ThreadSanitizer, and the tests of what runs on several threads: race.sh SOURCE FOLDER
set -eu
source=$1
build=$2
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
[ -e "$build/build.ninja" ] || meson setup "$build" "$source" -Db_sanitize=thread -Doptimization=1 -Ddebug=true
ninja -C "$build" daemon/starlingd tools/starling test/test_compute test/test_runtime test/test_runtime_pool test/test_net
cd "$run"
# A race ends its program with a status of its own, and is written to a file: a learner may be told to end before.
export TSAN_OPTIONS="exitcode=66 log_path=$run/race"
"$build/test/test_compute" team
"$build/test/test_runtime" worker
"$build/test/test_runtime_pool"
"$build/test/test_net" tls_offload
learners() { # ROUNDS, then settings
	rounds=$1
	shift
	rm -rf learners
	"$build/tools/starling" launch -n 4 --rounds "$rounds" --verify --run-dir learners --set threads=3 --set trainer=noise "$@"
}
learners 3 --set noise_parameters=70000
learners 3 --set noise_parameters=70000 --set sharing=shamir --set mixing=metropolis
learners 3 --set noise_parameters=70000 --set values=update
learners 1 --set noise_parameters=4200000 # TLS is offloaded
if cat race.* 2>/dev/null; then exit 1; fi
