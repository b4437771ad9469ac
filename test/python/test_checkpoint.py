"""Reading safetensors files."""
import json
import os
import tempfile
import unittest

import numpy as np
import starling
from starling import export


CHECKSUM = "362341150a326585440a14837c94f719a42f14e8b4546cc714a38fe2305b6822"  # of another program


def write(path, header, data):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


class Load(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "round.safetensors")
        self.data = np.arange(2, dtype="<f8").tobytes() + np.arange(6, dtype="<f4").tobytes()
        self.header = {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [16, 40]},
                       "b": {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]},
                       "__metadata__": {"round": "3", "format": "starling-2", "ranges": "[-40,7]", "checksum": CHECKSUM}}

    def test_tensors_by_name(self):
        write(self.path, self.header, self.data)
        model = starling.load(self.path)
        self.assertEqual(list(model), ["b", "w"])
        self.assertEqual((model["b"].dtype, model["w"].dtype), (np.float64, np.float32))
        self.assertEqual((model["b"].tolist(), model["w"].tolist()), ([0, 1], [[0, 1, 2], [3, 4, 5]]))
        self.assertEqual(model.metadata["round"], "3")
        model["w"] += 1  # the arrays are the caller's

    def test_a_model_like_another(self):
        header = {**self.header, "metric:loss": {"dtype": "F64", "shape": [], "data_offsets": [8, 16]}}
        write(self.path, header, self.data)
        like = {"b": [np.zeros(2)], "w": np.zeros((2, 3), np.float16), "batches": np.array(7)}
        with self.assertRaisesRegex(ValueError, "has another model than `like`: b.0 has the shape none, in `like` .2.$"):
            starling.load(self.path, like=like)
        like["b"], like["w"] = like["b"][0], like["w"].T
        with self.assertRaisesRegex(ValueError, r"w has the shape \[2, 3\], in `like` \[3, 2\]$"):
            starling.load(self.path, like=like)
        with self.assertRaisesRegex(ValueError, r"w has the shape \[2, 3\], in `like` none$"):
            starling.load(self.path, like={"b": np.zeros(2)})
        like["w"] = like["w"].T
        model = starling.load(self.path, like=like)
        self.assertEqual((list(model), model["batches"], model["w"].dtype), (["b", "w", "batches"], 7, np.float16))
        self.assertEqual((model["b"].tolist(), model["w"].tolist()), ([0, 1], [[0, 1, 2], [3, 4, 5]]))

    def test_a_model_too_large_for_npz(self):
        for shape, count in (((1 << 30,), 1), ((1,), 1 << 16)):
            with self.assertRaisesRegex(export.InputError, "^an .npz file has less than 4 GiB .*: give --safetensors$"):
                export._check_npz({f"w{place}": np.broadcast_to(np.float32(0), shape) for place in range(count)})
        export._check_npz({"w": np.broadcast_to(np.float32(0), ((1 << 30) - 1025,))})

    def test_a_strict_state_dict(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        net = torch.nn.BatchNorm1d(2)
        net(torch.ones(3, 2))
        names = ("bias", "running_mean", "running_var", "weight")
        write(self.path, {name: {"dtype": "F32", "shape": [2], "data_offsets": [8 * i, 8 * i + 8]} for i, name in enumerate(names)},
              np.arange(8, dtype="<f4").tobytes())
        fresh = torch.nn.BatchNorm1d(2)
        fresh.load_state_dict(starling.load(self.path, like=net), strict=True)
        self.assertEqual((fresh.weight.tolist(), int(fresh.num_batches_tracked)), ([6, 7], 1))

    def test_damaged_files(self):
        flaws = {"checksum": (self.header, self.data[:-1] + b"\1"),
                 "outside the file": (self.header, self.data[:-4]),
                 "dtype C64": ({**self.header, "w": {**self.header["w"], "dtype": "C64"}}, self.data),
                 "reshape": ({**self.header, "w": {**self.header["w"], "shape": [7]}}, self.data),
                 "not a readable safetensors": (["a list"], self.data)}
        for flaw, content in flaws.items():
            with self.subTest(flaw=flaw):
                write(self.path, *content)
                with self.assertRaisesRegex(ValueError, f"round.safetensors is .*{flaw}"):
                    starling.load(self.path)
        metadata = self.header["__metadata__"]
        for wrong in (None, [], *({**metadata, "ranges": ranges} for ranges in (None, 5, "", "{}", "null", '["a"]', "[[1], [2, 3]]"))):
            with self.subTest(metadata=wrong):
                write(self.path, {**self.header, "__metadata__": wrong}, self.data)
                with self.assertRaisesRegex(ValueError, "round.safetensors is (not a readable|damaged)"):
                    starling.load(self.path)
        deep = b"[" * 100_000
        with open(self.path, "wb") as file:
            file.write(len(deep).to_bytes(8, "little") + deep)
        with self.assertRaisesRegex(ValueError, "round.safetensors is not a readable"):
            starling.load(self.path)
        for content in (b"", b"\xff" * 20):
            with open(self.path, "wb") as file:
                file.write(content)
            with self.assertRaisesRegex(ValueError, "the header is incomplete"):
                starling.load(self.path)


if __name__ == "__main__":
    unittest.main()
