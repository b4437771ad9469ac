#!/bin/sh
# The Python package in an environment of uv, which has no pip: uv.sh STARLING STARLINGD PYTHON SOURCE
python=$(command -v "$3") source=$4 here=$(realpath "$(dirname "$0")")
for module in numpy pip venv; do
	"$python" -c "import $module" 2>/dev/null || { echo "python3-$module is not installed"; exit 77; }
done
. "$here/../lib/head.sh"
export UV_PYTHON="$python" PATH="$here/../stand-in:$PATH" HOME="$folder"
unset PYTHONPATH VIRTUAL_ENV
cp -r "$source/tools/python" package
cat >train.py <<'END'
import sys
import numpy as np
import starling
with starling.join({"w": np.zeros(3)}) as group:
    for t in group:
        print(group.mean({"w": np.ones(3)})["w"], sys.prefix, starling.__file__)
END
uv venv
! uv run python3 -c 'import pip' 2>/dev/null || fail "the environment has pip"

# Without the package: the remedy is one that works here. -I: the package of the build folder is not seen.
uv run "$program" launch -n 3 --rounds 1 --run-dir none -- python3 -I train.py >out 2>err && fail "no failure"
has err 'its Python has no package starling: ' 'uv pip install'
uv pip install ./package >out 2>err || fail "the package cannot be installed"
uv run "$program" launch -n 3 --rounds 1 --run-dir inside -- python3 -I train.py >out 2>err || fail "not in the environment"
has out "learner-02: [1. 1. 1.] $folder/.venv $folder/.venv/"
"$program" launch -n 3 --rounds 1 --run-dir outside -- uv run python3 -I train.py >out 2>err || fail "uv run is no command for launch"
has out "learner-02: [1. 1. 1.] $folder/.venv $folder/.venv/"

# The commands in Python use it; without numpy they say how to install it here.
uv run "$program" mean --local 1.5 2 7 >out 2>err && has out 3.5 || fail "starling mean does not work"
rm .venv/lib/python3*/site-packages/numpy*
uv run "$program" mean --local 1.5 2 7 >out 2>err && fail "no failure"
has err "$folder/.venv/bin/python3 has no numpy: " 'uv pip install numpy'
uv run "$source/tools/demo" -n 3 -- python3 train.py >out 2>err && fail "no failure"
has err "demo: $folder/.venv/bin/python3 has no numpy: " 'uv pip install numpy'
# An example of this source needs numpy only: the demo runs it by Debian's python3.
mkdir -p try/tools try/build/tools
cp "$source/tools/demo" try/tools/demo
printf '#!/bin/sh\n' >try/tools/setup
printf '#!/bin/sh\necho "$*"\n' >try/build/tools/starling
chmod +x try/tools/setup try/build/tools/starling
uv run try/tools/demo -n 4 -- python3 tools/python/examples/regression.py >out 2>err || fail "the demo"
has out "demo: $folder/.venv/bin/python3 has no numpy: /usr/bin/python3 runs" \
	'launch --verify -n 4 -- /usr/bin/python3 tools/python/examples/regression.py'
uv run try/tools/demo -n 4 --set dp=record -- python3 tools/python/examples/regression.py >out 2>err || fail "the demo with dp"
has out 'launch -n 4 --set dp=record -- ' # dp excludes --verify

# One that is too old is named, though it has numpy.
printf '#!/bin/sh\nexec %s -c "import sys; sys.version_info = (3, 8, 18); exec(sys.argv[2])" "$@"\n' "$python" >try/python3
chmod +x try/python3
PATH=$folder/try:$PATH try/tools/demo -n 3 -- python3 train.py >out 2>err && fail "no failure"
has err "demo: $folder/try/python3 is older than Python 3.9: put another one first on PATH, or name"
