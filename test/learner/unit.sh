#!/bin/sh
# Verifies a systemd unit as it stands, in a root of its own where the program of its ExecStart exists.
# Usage: unit.sh UNIT. Exits 77 (skipped) without systemd-analyze.
set -eu
command -v systemd-analyze >/dev/null || exit 77
unit=$1
root=$(mktemp -d ./unit-XXXXXX)
trap 'rm -rf "$root"' EXIT
program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")

mkdir -p "$root/etc/systemd/system" "$root/lib/systemd" "$root$(dirname "$program")"
cp "$unit" "$root/etc/systemd/system/"
printf '#!/bin/sh\n' >"$root$program"
chmod 755 "$root$program"
# What the unit is ordered after and wanted by; without them verify would complain of these and not of ours.
for target in network-online multi-user sysinit basic shutdown; do
	printf '[Unit]\nDescription=%s\n' "$target" >"$root/etc/systemd/system/$target.target"
done

said=$(systemd-analyze verify --man=no --root="$root" "$(basename "$unit")" 2>&1) || {
	echo "$said"
	exit 1
}
if [ -n "$said" ]; then
	echo "$said"
	exit 1
fi
