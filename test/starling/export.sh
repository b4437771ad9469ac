#!/bin/sh
# `starling export` of real checkpoints, read by numpy: export.sh STARLING STARLINGD PYTHON EXAMPLE
python=$3
example=$(realpath "$4")
"$python" -c 'import numpy' 2>/dev/null || { echo "numpy is not installed (Debian: python3-numpy)"; exit 77; }
. "$(dirname "$0")/../lib/head.sh"
mkdir bin none
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v "$python")" >bin/python3
chmod +x bin/python3
export PATH="$folder/bin:$PATH"

ends 0 launch -n 3 --rounds 2 --run-dir run -- "$example"
ends 0 export --npz m.npz --safetensors m.safetensors run
grep -q '^round 2 of run run, the mean of 3 learners: 2 tensors$' err || fail "the round is not told"
cmp m.safetensors run/learner-01/state/checkpoints/round-000002.safetensors
cat >compare.py <<'END'
import json, sys, zipfile
import numpy as np

raw = open(sys.argv[2], "rb").read()
size = int.from_bytes(raw[:8], "little")
header = json.loads(raw[8:8 + size])
types = {"F32": np.float32, "F64": np.float64, "I64": np.int64}
assert zipfile.ZipFile(sys.argv[1]).testzip() is None  # every CRC
with np.load(sys.argv[1]) as found:
    assert set(found) == set(header) - {"__metadata__"}, set(found)
    for name, array in found.items():
        entry = header[name]
        begin, end = (8 + size + place for place in entry["data_offsets"])
        assert array.dtype == types[entry["dtype"]] and list(array.shape) == entry["shape"], name
        assert array.tobytes() == raw[begin:end], name
END
"$python" compare.py m.npz m.safetensors

# Tensors of all dtypes and of several dimensions.
cat >make.py <<'END'
import hashlib, json
import numpy as np

tensors = {"a/weight": np.arange(6, dtype=np.int64).reshape(1, 2, 3) - 3, "b": np.array([0.1, 1e300]), "c": np.float32(0.5)}
header, data = {}, b""
for name, array in tensors.items():
    kind = {"int64": "I64", "float64": "F64", "float32": "F32"}[str(array.dtype)]
    header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
    data += array.tobytes()
header["__metadata__"] = {"run": "r", "round": "7", "learners": "4",
                          "checksum": hashlib.blake2b(data, digest_size=32).hexdigest()}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open("types.safetensors", "wb").write(len(text).to_bytes(8, "little") + text + data)
END
"$python" make.py
ends 0 export --npz types.npz types.safetensors
"$python" compare.py types.npz types.safetensors
# Every version writes the same bytes.
echo "ff5fb3bfacae4959e3eb3cbe1bc5068c47badce7429916562feaad00fbb5ec59  types.npz" | sha256sum -c --quiet || fail "the file has changed"
refused 'types.safetensors: holds round 7, not 8' export --npz other.npz --round 8 types.safetensors

# Rounds; files that are there; damage.
ends 0 export --npz m1.npz --round 1 run/learner-02/state
"$python" compare.py m1.npz run/learner-02/state/checkpoints/round-000001.safetensors
ends 0 export --force --npz m1.npz --round 1 run/learner-02 # like the folder of a group
"$python" compare.py m1.npz run/learner-02/state/checkpoints/round-000001.safetensors
refused 'no checkpoint of round 9' export --npz m1.npz --round 9 run
refused 'm1.npz exists; give --force to replace it' export --npz m1.npz run
"$python" compare.py m1.npz run/learner-02/state/checkpoints/round-000001.safetensors
echo mine >m1.npz.tmp
ends 0 export --force --npz m1.npz run
"$python" compare.py m1.npz m.safetensors
[ "$(cat m1.npz.tmp)" = mine ] && [ "$(echo m1.npz*)" = 'm1.npz m1.npz.tmp' ] || fail "files beside the output: $(echo m1.npz*)"
mkfifo pipe
ends 2 export --force --npz pipe run
grep -q 'pipe is not a regular file' err && [ -p pipe ] || fail "a pipe would be replaced"
refused 'no checkpoint here' export --npz m2.npz .
refused 'name the file to write' export run
size=$(wc -c <m.safetensors)
head -c $((size - 1)) m.safetensors >short.safetensors
{ head -c $((size - 1)) m.safetensors && printf '\377'; } >damaged.safetensors
refused 'short.safetensors is ' export --npz m2.npz short.safetensors
refused 'damaged.safetensors is damaged: its data do not have the checksum of its header' export --npz m2.npz damaged.safetensors
PATH=$folder/none "$program" export --npz m2.npz run >out 2>err && fail "it ends well without Python"
[ "$(cat err)" = 'starling export: python3 cannot be started: No such file or directory (Debian: apt-get install python3)' ] || fail "without Python it says: $(cat err)"
[ ! -e m2.npz ] || fail "a file was written"
