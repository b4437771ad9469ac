#!/bin/sh
# Builds the image of deploy/container/Containerfile from a base made here, and starts its programs: container.sh SOURCE.
# Exits 77 (skipped) without root, buildah, mmdebstrap or a Debian archive.
set -eu
source=$1
skip() { echo "$1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "needs root"
for program in buildah mmdebstrap; do
	command -v $program >/dev/null || skip "$program is missing: apt-get install buildah mmdebstrap"
done
work=$(mktemp -d /tmp/starling-test-XXXXXX)
trap 'rm -rf "$work"' EXIT INT TERM
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$work/policy.json"
buildah() {
	command buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"
}
mmdebstrap --quiet --mode=root --variant=apt bookworm "$work/base.tar" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; skip "no base can be made"; }
base=$(buildah from --signature-policy "$work/policy.json" scratch)
buildah add --quiet "$base" "$work/base.tar" / >/dev/null || skip "buildah is not permitted here"
buildah commit --quiet --signature-policy "$work/policy.json" --rm "$base" localhost/base >/dev/null
buildah bud --quiet --isolation chroot --signature-policy "$work/policy.json" --pull-never --build-arg BASE=localhost/base \
	-t starling -f "$source/deploy/container/Containerfile" "$source" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; echo "failed: bud"; exit 1; }
image=$(buildah from --signature-policy "$work/policy.json" --pull-never localhost/starling)
run() { buildah run --isolation chroot "$image" -- "$@"; }
[ "$(run id -u)" = 10001 ] || { echo "failed: the user is $(run id -u)"; exit 1; }
run starlingd --version
run starling simulate -n 4 --rounds 2 | tail -n 1
run sh -c 'touch /var/lib/starling/state/x' || { echo "failed: the state folder cannot be written"; exit 1; }
run sh -c '! command -v gcc' || { echo "failed: the image has a compiler"; exit 1; }
