#!/bin/sh
# Builds the wheel and the tarball, and runs them in clean roots of Debian 12 and 13, as a user without privileges and without a
# network: roots.sh SOURCE
# Exits 77 (skipped) without root, mmdebstrap, patchelf or a Debian archive, and on another version of Debian than 12.
set -eu
source=$1 here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "$1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "needs root"
for program in mmdebstrap patchelf unshare ip; do
	command -v $program >/dev/null || skip "$program is missing: apt-get install mmdebstrap patchelf iproute2"
done
unshare --pid --fork --mount --net true 2>/dev/null || skip "namespaces are refused"
[ "$(. /etc/os-release && echo "$ID $VERSION_ID")" = "debian 12" ] || skip "this is not Debian 12, whose C library a wheel may need"
work=$(mktemp -d /tmp/starling-test-XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT INT TERM
fail() {
	echo "failed: $1"
	exit 1
}

cd "$work" # FOLDER is relative to the folder of the caller
"$source/tools/package" wheel files
"$source/tools/package" tarball files

# inside ROOT NAME: run roots_inside.sh NAME there, alone with the loopback.
inside() {
	unshare --kill-child --fork --pid --mount --net sh -euc '
		mount --make-rprivate /
		mount --rbind /dev "$1/dev"
		mount -t proc proc "$1/proc"
		ip link set lo up
		exec chroot --userspec=1000:1000 "$1" env -i HOME=/home/guest PATH=/usr/bin:/bin LANG=C.UTF-8 sh /starling/roots_inside.sh "$2"' sh "$1" "$2"
}
for release in bookworm trixie; do
	root=$work/$release
	mmdebstrap --quiet --mode=root --variant=apt --customize-hook='echo guest:x:1000:1000::/home/guest:/bin/sh >>"$1/etc/passwd"; install -d -o 1000 -g 1000 "$1/home/guest"' \
		--customize-hook="mkdir \"\$1/starling\"; cp files/* '$here/roots_inside.sh' \"\$1/starling/\"" $release "$root" >log 2>&1 ||
		{ tail -n 5 log; skip "no root of $release can be made"; }
	[ ! -e "$root/usr/bin/python3" ] || fail "the root of $release has Python"
	inside "$root" tarball || fail "the tarball, on $release"
	{ chroot "$root" apt-get update -qq && chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
		python3-venv python3-pip python3-numpy pipx; } >log 2>&1 || { tail -n 5 log; skip "no Python for $release"; }
	inside "$root" wheel || fail "the wheel, on $release"
	rm -rf --one-file-system "$root"
done
