#!/bin/sh
# The part of packages.sh that runs in the clean root, under systemd.
set -eu
cd /root
fail() {
	echo "failed: $1"
	journalctl --no-pager -o cat -n 30
	exit 1
}
# Wait until COMMAND... succeeds, at most 10 minutes, which only ends a test that hangs.
await() {
	for _ in $(seq 1200); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.5
	done
	fail "in vain: $*"
}
main_pid() { systemctl show -P MainPID "starlingd@$1"; }
# The last round that learner a has committed.
committed() { starling status --json /var/lib/starling/a | sed -n 's/.*"committed": *\([0-9]*\).*/\1/p' | head -n 1; }
goes_on() { [ "$(committed)" -gt "$1" ]; }
proceeds() { await goes_on "$(committed)"; }
started_anew() { [ "$(main_pid "$1")" != "$2" ] && [ "$(main_pid "$1")" != 0 ]; }

# Run the commands of a chapter of deploy/README.md.
page() { sh "page/$1" >page.log 2>&1 || { cat page.log; fail "the commands of \"$1\""; }; }

getent passwd starling >/dev/null || fail "no user starling"
systemctl is-enabled starlingd | grep -q disabled || fail "the unit is enabled before it is set up"
# A group: root runs the commands, the learner's user reads and writes what they make.
ward="--folder /var/lib/starling/ward"
starling group create ward --learner ana --address 127.0.0.1:7410 >group.log 2>&1 || { cat group.log; fail "group create"; }
systemctl start starlingd@ward || fail "a group that is forming"
shows() { [ "$(systemctl show -P StatusText "starlingd@$1")" = "$2" ]; }
await shows ward "the group is forming"
starling group invite $ward >invitation 2>>group.log || { cat group.log; fail "group invite"; }
starling join - --name bo --address 127.0.0.1:7411 --folder /var/lib/starling/bo <invitation >join.log 2>&1 &
join=$!
await grep -q 'Waiting for the admin' join.log
starling admit $ward bo >>group.log 2>&1 || { cat group.log; fail "admit"; }
wait $join || { cat join.log; fail "join"; }
systemctl start starlingd@bo || fail "a learner that has joined"
starling group list $ward | grep -q '^ *2  bo ' || fail "group list"
systemctl stop starlingd@ward starlingd@bo
rm -rf /var/lib/starling/ward /var/lib/starling/bo
echo "a group: passed"

i=0
for name in a b c; do
	i=$((i + 1))
	mkdir -p -m 700 /var/lib/starling/$name
	starling keygen --id $i --name $name --address 127.0.0.1:740$i --dir /var/lib/starling/$name/identity >>roster.yaml 2>/dev/null
	printf 'run: ward\nid: %d\nroster: roster.yaml\nidentity: identity\nstate: state\nrounds: 1000000\ntrainer: noise\nnoise_parameters: 1000\n' \
		$i >/var/lib/starling/$name/starlingd.yaml
done
for name in a b c; do cp roster.yaml /var/lib/starling/$name/; done
systemctl enable --quiet --now starlingd@a starlingd@b starlingd@c || fail "start"
await committed
proceeds
echo "started: what root made belongs to the learner, and rounds go on"
systemctl status --no-pager starlingd@a | grep -q 'Status: "round ' || fail "status"
grep -q 'core file size *0 ' "/proc/$(main_pid a)/limits" || fail "core files"
echo 'log_level: debug' >>/var/lib/starling/a/starlingd.yaml
systemctl reload starlingd@a || fail "reload"
journalctl -o cat -u starlingd@a | grep -q 'reopened at level debug' || fail "the level after a reload"
echo 'log_level: loud' >>/var/lib/starling/a/starlingd.yaml
! systemctl reload starlingd@a 2>/dev/null || fail "a reload of a wrong setting succeeds"
sed -i '/^log_level/d' /var/lib/starling/a/starlingd.yaml
[ "$(systemctl is-active starlingd@a)" = active ] || fail "a reload in vain ends the learner"
echo "reload: passed"

mkdir -p /etc/systemd/system/starlingd@b.service.d
printf '[Service]\nWatchdogSec=3\nRestartSec=1\n' >/etc/systemd/system/starlingd@b.service.d/test.conf
systemctl daemon-reload
systemctl restart starlingd@b
pid=$(main_pid b)
sleep 5
[ "$(main_pid b)" = "$pid" ] || fail "a watchdog that is fed has ended the learner"
kill -STOP "$pid"
await started_anew b "$pid"
proceeds
echo "watchdog: passed"

page Look
starling logs logs --json | grep -q '"event": *"committed"' || fail "the log that the journal gives"
page "Change a setting"
page "Back up"
proceeds
page Restore
proceeds
page "Move a learner"
rm -rf /var/lib/starling/a
tar -C /var/lib/starling -xpf a.tar
systemctl start starlingd@a
proceeds
echo "the runbook: passed"

mkdir -p -m 700 /etc/credstore
mv /var/lib/starling/a/identity/key.pem /etc/credstore/starlingd.a.key.pem
chown root: /etc/credstore/starlingd.a.key.pem
systemctl restart starlingd@a || fail "a key among the credentials"
mkdir -p /etc/systemd/system/starlingd@c.service.d
cp /usr/share/starling/exec.conf /etc/systemd/system/starlingd@c.service.d/
systemctl daemon-reload
systemctl restart starlingd@c || fail "exec.conf"
proceeds
echo "credential, exec.conf: passed"

pid=$(main_pid a)
rm packages/starling_*.deb
mv later/starling_later.deb packages/
page Upgrade
dpkg-query -W starling | grep -q later || fail "no upgrade"
await started_anew a "$pid"
proceeds
echo "upgrade of running learners: passed"

dpkg --remove starling >dpkg.log 2>&1 || { cat dpkg.log; fail "remove"; }
! ls -l /proc/[0-9]*/exe 2>/dev/null | grep -q /starlingd || fail "a learner runs after the package was removed"
[ -f /var/lib/starling/b/identity/key.pem ] || fail "a removal deletes keys"
dpkg --purge starling >dpkg.log 2>&1 || { cat dpkg.log; fail "purge"; }
[ ! -e /var/lib/starling ] || fail "a purge leaves state"
echo "removed and purged: passed"
