#!/bin/sh
# Verifies systemd units as they stand, alone and with each drop-in, in a root of its own where the programs that they
# start exist; and their exposure. Usage: unit.sh DROP-IN UNIT... Exits 77 (skipped) without systemd-analyze.
set -eu
command -v systemd-analyze >/dev/null || { echo "systemd-analyze is not installed"; exit 77; }
drop_in=$1
shift
root=$(mktemp -d ./unit-XXXXXX)
trap 'rm -rf "$root"' EXIT
system=$root/etc/systemd/system
mkdir -p "$system" "$root/lib/systemd"
# What the units are ordered after and wanted by; without them verify would complain of these and not of ours.
for target in network multi-user sysinit basic shutdown; do
	printf '[Unit]\nDescription=%s\n' "$target" >"$system/$target.target"
done

verify() {
	said=$(systemd-analyze verify --man=no --root="$root" "$1" 2>&1) || said="$said (status $?)"
	[ -z "$said" ] || { echo "$1: $said"; exit 1; }
}

for unit; do
	cp "$unit" "$system/"
	for program in $(sed -n 's/^Exec[A-Z][a-z]*=\([^ ]*\).*/\1/p' "$unit"); do
		mkdir -p "$root$(dirname "$program")"
		printf '#!/bin/sh\n' >"$root$program"
		chmod 755 "$root$program"
	done
	name=$(basename "$unit" | sed 's/@/@ward/')
	verify "$name"
	systemd-analyze security --no-pager --offline=true --threshold=15 "$unit" >"$root/exposure" || { cat "$root/exposure"; exit 1; }
	mkdir "$system/$name.d"
	cp "$drop_in" "$system/$name.d/"
	verify "$name"
done
