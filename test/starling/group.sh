#!/bin/sh
# What the commands of a group say to a newcomer: group.sh STARLING STARLINGD
starlingd=$(realpath "$2")
lib=$(realpath "${0%/*}/../lib")
. "$lib/head.sh"
pid=
holder=
trap 'for one in $pid $holder; do kill -KILL "$one" 2>/dev/null || :; done; wait; rm -rf "$folder"' EXIT
mkfifo ports
/usr/bin/python3 "$lib/ports.py" 3 >ports &
holder=$!
read -r first second third <ports
set -- "$first" "$second" "$third"

# The hints name the folder, and do not speak of a line above that is in a file.
ends 0 group create ward --learner a --address "127.0.0.1:$1" --folder ga --set trainer=noise --set noise_parameters=10 --auto-admit 1
cp out invitation
has err "starlingd --config $folder/ga/starlingd.yaml" 'starling join -' "starling group invite --folder $folder/ga"
! grep -q 'above' err || fail 'the invitation is not above'
ends 0 group create lab --learner a --address "127.0.0.1:$1" --folder lab
has err "starling admit NAME --folder $folder/lab"

ends 0 group create far --learner a --address 192.0.2.7:7400 --folder gf
cp out far

# An address at which no other machine finds this one: one line, and the remedy, which is followed.
for address in 127.0.0.1 0.0.0.0 '[::]' '[::1]' localhost '[::ffff:127.0.0.1]' 224.0.0.1 255.255.255.255 '[ff02::1]' 169.254.7.7 '[fe80::1]' no.such.host.test; do
	case $address in
	224* | 255* | *ff02*) why='is the address of no machine' ;;
	169* | *fe80*) why='is valid on one link only' ;;
	no*) why='has a name that does not resolve on this machine' ;;
	*) why='leads each machine to itself' ;;
	esac
	rm -rf gn
	ends 0 group create nowhere --learner a --address "$address:7400" --folder gn
	has err "Other machines may be unable to reach $address:7400, which $why; to correct it: starling group address a HOST:PORT --folder $folder/gn, then"
	"$program" doctor gn >out 2>err || :
	has out "warn  own line: a (1): other machines may be unable to reach $address:7400, which $why; correct its address"
	ends 0 group invite --folder gn
	has err "unable to reach $address:7400, which $why; to correct it: starling group invite --address HOST:PORT"
	ends 0 group address a 0.0.0.0:7401 --folder gn
	has err 'unable to reach 0.0.0.0:7401, which leads each machine to itself'
	ends 0 group address a "$address:7400,192.0.2.7:7400" --folder gn
	! grep -q unable err || fail "one good address of $address is enough: $(cat err)"
	ends 0 group invite --folder gn
	! grep -q unable err || fail "an invitation with a good address: $(cat err)"
	"$program" doctor gn >out 2>err || :
	has out 'ok    own line: a (1)'
done

# A damaged file of a learner that waits, as after a full disk.
mkdir lab/waiting
printf 'name: q\naddr' >lab/waiting/q.yaml
ends 2 admit --folder lab
has err 'lab/waiting/q.yaml: is damaged; remove it: the learner asks again'
! grep -q 'No learner waits' err || fail "admit: $(cat err)"
ends 0 group list --folder lab
has err 'lab/waiting/q.yaml: is damaged'
rm lab/waiting/q.yaml
ends 0 admit --folder lab
has err 'No learner waits'

# A name under .invalid leads nowhere on purpose.
ends 0 group create nowhere --learner a --address a.invalid:7400 --folder gi
! grep -q unable err || fail "a.invalid: $(cat err)"
"$program" doctor gi >out 2>err || :
has out 'ok    own line: a (1), a.invalid:7400'

# A connection to a proxy of this machine does not tell at which address others reach it.
for proxy in http://127.0.0.1:9 socks5://localhost:9; do
	refused 'give that with --address HOST:PORT' join "$(cat far)" --name b --set proxy=$proxy --folder gp
done
refused "'id' follows from the group" join "$(cat far)" --name b --set id= --folder gp
refused 'data has no value' join "$(cat far)" --name b --set data= --folder gp
refused 'proxy_credentials_file needs proxy' join "$(cat far)" --name b --set proxy_credentials_file=out --folder gp
[ ! -e gp ] || fail 'a key without a way'
# What the proxy does says nothing of the machine behind it.
ends 1 join "$(cat far)" --name b --address "127.0.0.1:$2" --set proxy=http://127.0.0.1:9 --timeout 1 --folder gp
has err 'the proxy itself cannot be reached' 'the inviting machine cannot be reached'
! grep -q firewalls err || fail "firewalls: $(cat err)"
# A damaged certificate is made again, from its key.
: >gp/identity/cert.pem
ends 1 join "$(cat far)" --name b --address "127.0.0.1:$2" --set proxy=http://127.0.0.1:9 --timeout 1 --folder gp
has err 'the inviting machine cannot be reached'
rm -r gp

# Before the first start: the command that starts it, whether the folder or the one above is named.
for name in ga .; do
	ends 2 status $name
	has out 'xa ' 'has begun no round; start it: starlingd --config'
done
ends 2 status --json ga
has out '"state": "new"'
ends 0 group list --folder ga
has out '1 learner; rounds begin with 3'

# Admitted already, or never heard of.
refused 'a is a member already, with the key sha256:' admit a --folder ga
refused 'no learner bo waits here; ' admit bo --folder ga

# A setting of all learners is not one of a machine that joins.
refused "'rounds' is a setting of all learners" join - --set rounds=5 --folder gb

# While the group forms there is no round, and that is no fault.
"$starlingd" --config ga/starlingd.yaml >log 2>&1 &
pid=$!
until [ "$(status status ga)" != 2 ]; do sleep 0.1; done
ends 1 status ga
has out ' a  ' ' forming ' 'it has 1 of the 3 learners with which rounds begin' '1 learner: 1 forming'
"$program" join - --name b --address "127.0.0.1:$2" --folder gb <invitation >out 2>err || fail 'join'
has out "starlingd --config $folder/gb/starlingd.yaml"
until grep -q '"again".*with version 2 of the roster of group ward' log; do sleep 0.1; done
grep -q '"new_roster".*this learner takes it and restarts by itself' log || fail "the log: $(cat log)"
refused '--no-wait is for the machine with the admin key' group rotate --no-wait --folder gb

# An address that leads each machine to itself.
cat >alone.sh <<'EOF'
ip link set lo up && ip addr add 10.9.9.1/32 dev lo || exit 77
"$1" group create x --learner a --address 10.9.9.1:7400 --folder gx >invitation
"$2" --config gx/starlingd.yaml >gx.log 2>&1 &
daemon=$!
"$1" join - --name b --address localhost:7401 --folder gy --timeout 600 <invitation &
until grep -q 'run this command again' err; do sleep 0.1; done
kill $daemon $!
EOF
if unshare -rn true 2>/dev/null; then
	unshare -rn sh alone.sh "$program" "$starlingd" >out 2>err || :
	has err 'Other machines may be unable to reach localhost:7401, which leads each machine to itself; to correct it: run this command again'
fi

# A command changes the roster while a learner starts, which has read it and does not answer yet: it takes the change by itself.
cat >late.sh <<'EOF'
ip link set lo up || exit 77
"$1" group create x --learner a --address 10.9.9.2:7400 --folder gz --set listen=10.9.9.2:7400 >invitation
"$2" --config gz/starlingd.yaml >late.log 2>&1 &
trap 'kill -KILL $!' EXIT
until grep -q '"no_address"' late.log; do sleep 0.1; done
"$1" group set rounds 7 --folder gz && ip addr add 10.9.9.2/32 dev lo || exit 1
until grep -q '"forming".*listening on' late.log; do sleep 0.1; done
until grep -q 'restarts by itself, with version 2 of' late.log; do sleep 0.1; done
EOF
if unshare -rn true 2>/dev/null; then
	unshare -rn sh late.sh "$program" "$starlingd" >out 2>err || fail "late: $(cat out err late.log)"
fi

# A learner that does not answer has the name of its folder. It is asked twice here, and that is said once.
kill -STOP "$pid"
ends 1 status ga
has out '?ga ' 'runs and does not answer'
ends 0 group set rounds 70 --folder ga
[ "$(grep -cx 'Waiting: the learner of this machine does not answer.' err)" = 1 ] || fail 'not said once'
has err "starling reload --control $folder/ga/state/control.sock"

# A setting of this machine that is good only with one of the roster, and a file that is named from here.
ends 0 group create drill --learner a --address "127.0.0.1:$1" --folder ea --set trainer=exec --set command=true --auto-admit 1
cp out invitation
echo me:secret >login
chmod 600 login
kill -KILL "$pid"
"$starlingd" --config ea/starlingd.yaml >log 2>&1 &
pid=$!
"$program" join - --name b --address "127.0.0.1:$2" --folder eb --timeout 600 --set command=true --set proxy=http://127.0.0.1:9 --set proxy_credentials_file=login <invitation >out 2>err || fail 'join with a command'
has eb/starlingd.yaml 'command: "true"' "proxy_credentials_file: \"$folder/login\""

# With a program of the user as trainer, the group may be complete before a program has joined: until then, the first learner
# answers learners that join, and tells its status.
ends 0 group create study --learner a --address "127.0.0.1:$1" --folder sa --set trainer=application --auto-admit 2
cp out invitation
kill -KILL "$pid"
"$starlingd" --config sa/starlingd.yaml >log 2>&1 &
pid=$!
for name in b c; do
	"$program" join - --name $name --address "127.0.0.1:$2" --folder s$name --timeout 600 <invitation >out 2>err || fail "join of $name"
	shift
done
until grep -q 'waiting for an application on ' log; do sleep 0.1; done
ends 1 status sa
has out ' a  ' "waits for its first program on $folder/sa/state/application.sock" ' waiting ' '1 learner: 1 waiting'
ends 1 doctor sa
has out "runs; waits for its first program on "
refused 'the invitation was used before' join - --name d --address 127.0.0.1:9 --folder sd --timeout 600 <invitation
ends 0 group invite --folder sa
cp out invitation
"$program" join - --name d --address 127.0.0.1:9 --folder sd --timeout 1 <invitation >out 2>err && fail 'd is admitted without a question'
has err 'not admitted within 1 s'
kill -KILL "$pid"
wait "$pid" || :
pid=
ends 2 status sa
has out ' stopped ' '1 learner: 1 stopped'

# While its learner is stopped, the roster tells what is wrong with a change; only a good one waits, and says for what.
refused "group study has no learner bb; did you mean 'b'?" group remove bb --folder sa --no-wait
refused "group study has no learner nobody; 'starling group list' shows them" group remove nobody --folder sa --no-wait
refused "group study has no learner nobody; 'starling group list' shows them" group address nobody 127.0.0.1:9 --folder sa --no-wait
refused "learner a (1) has the address 127.0.0.1:$first" group address b "127.0.0.1:$first" --folder sa --no-wait
refused 'a is the learner of this machine' group remove a --folder sa --no-wait
refused 'too few for tolerance: 1' group remove b --folder sa --no-wait
ends 1 group address b 127.0.0.1:9 --folder sa --no-wait
has err "the learner of this machine does not answer; unless it is restarting, start it: starlingd --config $folder/sa/starlingd.yaml"
"$program" group address b 127.0.0.1:9 --folder sa >out 2>waits &
pid=$!
until grep -qF "start it: starlingd --config $folder/sa/starlingd.yaml" waits; do sleep 0.1; done
ends 1 group address c 127.0.0.1:8 --folder sa --no-wait
has err 'another command changes the group of'
"$program" group address c 127.0.0.1:8 --folder sa >out 2>waits2 &
holder="$holder $!"
until grep -qF 'Waiting: another command changes the group of' waits2; do sleep 0.1; done
kill -KILL "$pid" "${holder##* }"
holder=${holder% *}
wait "$pid" || :
pid=

# Another user has its groups in its home folder.
chmod 755 "$folder"
mkdir -p home/.local/share/starling
mv lab home/.local/share/starling/lab
if [ "$(id -u)" -eq 0 ]; then
	chown -R nobody home
	set -- setpriv --reuid nobody --clear-groups
else
	set --
fi
cd /
code=0
env -u XDG_DATA_HOME HOME="$folder/home" "$@" "$program" status >"$folder/out" 2>"$folder/err" || code=$?
cd "$folder"
[ $code = 2 ] || fail "status of a user ends with $code"
has out "run folder $folder/home/.local/share/starling" 'xa '

# A folder that the user cannot read is not called empty.
if [ $# -gt 0 ]; then
	"$@" "$program" group list --folder "$folder/ga" >out 2>err && fail 'group list of a folder of root' || :
	has err 'ga: Permission denied; run this command as root'
	for command in status stop logs; do
		setpriv --reuid nobody --clear-groups "$program" $command ga >out 2>err || :
		has err "starling $command: ga: Permission denied; run this command as the user of the learner, or as root"
	done
fi
