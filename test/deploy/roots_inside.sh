#!/bin/sh
# In a clean root, as a user without privileges: roots_inside.sh tarball|wheel
set -eu
exact() { # COMMAND...: ends with rounds that are all exact
	"$@" >out 2>&1 || { cat out; echo "failed: $*"; exit 1; }
	grep -q '2 of 2 rounds, all exact' out || { cat out; echo "not exact: $*"; exit 1; }
}
cd
case $1 in
tarball)
	tar -xf /starling/starling-*.tar.gz
	mv starling-* moved
	moved/bin/starlingd --version
	moved/bin/starling launch -n 3 --rounds 2 --run-dir first >out 2>&1 || { cat out; exit 1; } # --verify wants Python
	grep -q '2 of 2 rounds, all the same' out
	moved/bin/starling simulate -n 3 --rounds 2 >/dev/null
	! moved/bin/starling logs first 2>out # Python
	grep -q 'python3 cannot be started' out
	;;
wheel)
	example=share/doc/starling/examples/regression.py
	cat >where.py <<'END'
import starling
with starling.local(3, rounds=1) as sockets:
    print("learners of", starling.__file__, len(sockets))
END
	echo "- a virtual environment"
	python3 -m venv --system-site-packages venv
	venv/bin/pip install --quiet --no-index /starling/starling-*.whl
	exact venv/bin/starling launch -n 4 --rounds 2 --verify --run-dir second -- python3 venv/$example
	venv/bin/python3 where.py | grep "learners of $HOME/venv/.* 3"
	(. venv/bin/activate && exact starling launch -n 4 --rounds 2 --verify --run-dir third -- python3 venv/$example)
	printf 'age\n30\n40\n' >a.csv
	printf 'age\n50\n60\n' >b.csv
	printf 'age\n70\n80\n' >c.csv
	venv/bin/starling stats describe age --local a.csv b.csv c.csv | tee out
	grep -q 55 out
	echo "- pip install --user"
	PIP_BREAK_SYSTEM_PACKAGES=1 pip3 install --quiet --user --no-index --no-warn-script-location /starling/starling-*.whl
	exact env PATH="$HOME/.local/bin:$PATH" starling launch -n 4 --rounds 2 --verify --run-dir fourth -- python3 .local/$example
	env PATH="$HOME/.local/bin:$PATH" python3 where.py | grep "learners of $HOME/.local/.* 3"
	PIP_BREAK_SYSTEM_PACKAGES=1 pip3 uninstall --quiet --yes starling
	echo "- pipx"
	# pipx installs pip for its environments: that of Debian's venv.
	PIP_NO_INDEX=1 PIP_FIND_LINKS=/usr/share/python-wheels pipx install --system-site-packages /starling/starling-*.whl
	exact .local/bin/starling launch -n 4 --rounds 2 --verify --run-dir fifth -- python3 venv/$example
	;;
esac
