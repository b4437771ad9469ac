#!/bin/sh
# Builds the packages, checks them with lintian, installs them in a clean root, and starts systemd there as process 1
# in namespaces of its own: packages.sh SOURCE. Three learners run under the unit: readiness, reload, limits, watchdog,
# a credential, the drop-in for commands; then an upgrade while they run, a removal and a purge.
# Exits 77 (skipped) without root, mmdebstrap, debhelper, lintian, or a Debian archive.
set -eu
source=$1 here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "$1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "needs root"
for program in mmdebstrap dh lintian unshare nsenter ip; do
	command -v $program >/dev/null || skip "$program is missing: apt-get install debhelper dh-python lintian mmdebstrap iproute2"
done
unshare --pid --fork --mount --net --cgroup true 2>/dev/null || skip "namespaces are refused"
work=$(mktemp -d /tmp/starling-test-XXXXXX) init= machine=
root=$work/root
finish() {
	[ -z "$machine" ] || kill -9 "$machine" 2>/dev/null || true # and with it all of its name spaces
	sleep 1
	rm -rf --one-file-system "$work"
}
trap finish EXIT INT TERM

commands() { python3 "$here/blocks.py" "$source/deploy/README.md" "$@"; }
commands Install build | sed "s|build/packages|$work/debs|" >"$work/build.sh"
(cd "$source" && sh "$work/build.sh")
lintian --allow-root --fail-on error "$work"/debs/*.changes
# The same package as a later version.
mkdir "$work/later"
dpkg-deb -R "$work"/debs/starling_*.deb "$work/starling"
sed -i 's/^Version: .*/&+later/' "$work/starling/DEBIAN/control"
dpkg-deb -b --root-owner-group "$work/starling" "$work/later/starling_later.deb" >/dev/null
# What the tests run inside: the commands of the page, for the group a.
mkdir "$work/page"
commands Install host >"$work/page/install"
for chapter in Look "Change a setting" "Move a learner" Upgrade "Back up" Restore; do
	commands "$chapter" host | sed 's/\bward\b/a/g' >"$work/page/$chapter"
done

mmdebstrap --quiet --mode=root --variant=apt --include=systemd,systemd-sysv,dbus \
	--customize-hook="mkdir \"\$1/root/packages\"; cp '$work'/debs/*.deb \"\$1/root/packages/\"; cp -r '$work/page' '$work/later' \"\$1/root/\"" \
	--customize-hook='rm -f "$1/usr/sbin/policy-rc.d"' \
	--customize-hook='chroot "$1" sh -c "export DEBIAN_FRONTEND=noninteractive; cd /root && echo APT::Install-Recommends no\\; >/etc/apt/apt.conf.d/few && sh page/install && apt-get install -qq -y ./packages/libstarling*.deb"' \
	bookworm "$root" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; skip "no clean root can be made"; }

cat >"$work/boot" <<'BOOT'
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs sys/fs/cgroup
mkdir sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd 2>/dev/null || {
	umount sys/fs/cgroup
	mount -t cgroup2 cgroup2 sys/fs/cgroup
}
mount -t tmpfs tmpfs dev
for device in null zero full random urandom tty; do
	touch dev/$device
	mount --bind /dev/$device dev/$device
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ip link set lo up
mkdir -p old
pivot_root . old
umount -l old
mount --make-rshared / # as process 1 does outside of containers: credentials are mounted in a child
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --show-status=false
BOOT
unshare --kill-child --fork --pid --mount --uts --ipc --net --cgroup sh "$work/boot" "$root" >"$work/boot.log" 2>&1 &
machine=$!
for _ in $(seq 3000); do
	sleep 0.2
	init=$(pgrep -P $machine || true)
	[ -z "$init" ] || ! nsenter -t "$init" -a -r -w systemctl is-system-running 2>/dev/null | grep -Eq 'running|degraded' || break
done
nsenter -t "$init" -a -r -w systemctl list-units >/dev/null 2>&1 || { cat "$work/boot.log"; skip "systemd does not start in namespaces"; }
cp "$here/packages_inside.sh" "$root/root/"
nsenter -t "$init" -a -r -w sh /root/packages_inside.sh
