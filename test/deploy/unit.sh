#!/bin/sh
# Verifies a systemd unit as it stands, in a root of its own where the programs that it starts exist.
# Usage: unit.sh UNIT. Exits 77 (skipped) without systemd-analyze.
set -eu
command -v systemd-analyze >/dev/null || exit 77
unit=$1
root=$(mktemp -d ./unit-XXXXXX)
trap 'rm -rf "$root"' EXIT

mkdir -p "$root/etc/systemd/system" "$root/lib/systemd"
cp "$unit" "$root/etc/systemd/system/"
for program in $(sed -n 's/^Exec[A-Z][a-z]*=\([^ ]*\).*/\1/p' "$unit"); do
	mkdir -p "$root$(dirname "$program")"
	printf '#!/bin/sh\n' >"$root$program"
	chmod 755 "$root$program"
done
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
