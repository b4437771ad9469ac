"""Models as nested containers, and as one vector."""
import unittest
from collections import OrderedDict, namedtuple

import numpy as np
from starling import tree

Pair = namedtuple("Pair", "left right")


def through(model):
    """Flatten `model` and build it again from the vector and a skeleton."""
    known = tree.tensors(model)
    vector = np.zeros(sum(tensor.bytes for tensor in known), dtype=np.uint8)
    tree.flatten(model, known, vector)
    return tree.unflatten(tree.skeleton(model), vector)


class Tree(unittest.TestCase):
    def test_names_shapes_and_dtypes_in_order(self):
        model = {"z": [np.zeros((2, 3)), 1.0], "a": (np.float32(2),), "half": np.zeros(1, np.float16), "count": np.array(5), "flag": True}
        self.assertEqual(tree.tensors(model), [
            tree.Tensor("z.0", (2, 3), "float64"), tree.Tensor("z.1", (), "float64"),
            tree.Tensor("a.0", (), "float32"), tree.Tensor("half", (1,), "float32")])
        back = through({"narrow": np.float32(0.1), "wide": 0.1, "w": np.full(2, 1e300)})
        self.assertEqual((back["narrow"], back["wide"], back["w"].tolist()), (np.float32(0.1), 0.1, [1e300, 1e300]))
        self.assertEqual(tree.tensors(np.zeros(4, np.float32)), [tree.Tensor("model", (4,), "float32")])

    def test_structure_order_and_dtypes_are_kept(self):
        model = OrderedDict(z=Pair(np.arange(6, dtype=np.float16).reshape(2, 3), [1.5, -2.0]), a=(np.float64(0.25),),
                            count=np.array([7, 8]), fortran=np.asfortranarray(np.arange(6.0).reshape(2, 3)))
        back = through(model)
        self.assertIsInstance(back, OrderedDict)
        self.assertEqual(list(back), ["z", "a", "count", "fortran"])
        self.assertIsInstance(back["z"], Pair)
        np.testing.assert_array_equal(back["z"].left, model["z"].left)
        self.assertEqual(back["z"].left.dtype, np.float16)
        self.assertEqual(back["z"].right, [1.5, -2.0])
        self.assertEqual((back["a"][0], type(back["a"][0])), (0.25, np.float64))
        self.assertIs(back["count"], model["count"])
        np.testing.assert_array_equal(back["fortran"], model["fortran"])

    def test_the_order_of_a_dict_does_not_matter(self):
        one, other = ({"a": np.ones(2, np.float32), "b": np.zeros(1, np.float32)},
                      {"b": np.zeros(1, np.float32), "a": np.ones(2, np.float32)})
        self.assertEqual(tree.tensors(one), tree.tensors(other))
        vector = np.zeros(12, dtype=np.uint8)
        tree.flatten(other, tree.tensors(one), vector)
        self.assertEqual(vector.view("<f4").tolist(), [1, 1, 0])
        self.assertEqual(list(tree.unflatten(other, vector)), ["b", "a"])

    def test_the_result_does_not_share_memory(self):
        model = np.zeros(3)
        back = through(model)
        back += 1
        self.assertEqual(model.tolist(), [0, 0, 0])

    def test_a_skeleton_is_enough(self):
        model = {"w": np.arange(3.0), "n": np.array([1, 2]), "f": 0.5, "g": np.float32(2)}
        bare = tree.skeleton(model)
        self.assertEqual(tree.tensors(bare), tree.tensors(model))
        self.assertEqual(bare["w"].strides, (0,))
        self.assertIs(bare["n"], model["n"])

    def test_what_cannot_be_averaged(self):
        for leaf in ("text", np.zeros(2, dtype=complex), None):
            with self.assertRaises(TypeError):
                tree.tensors({"w": leaf})
        with self.assertRaisesRegex(ValueError, "two tensors have the name a.b"):
            tree.tensors({"a.b": 1.0, "a": {"b": 2.0}})

    def test_a_changed_model(self):
        known = tree.tensors({"w": np.zeros(2)})
        for model, text in (({"w": np.zeros(2), "x": np.zeros(1)}, r"x float64 \[1\] was missing"),
                            ({"v": np.zeros(2)}, r"w float64 \[2\] is missing"),
                            ({"w": np.zeros(2, int)}, r"w float64 \[2\] is missing or has no floats"),
                            ({"w": np.zeros(3, np.float32)}, r"w float32 \[3\], was w float64 \[2\]")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "the model changed: " + text):
                tree.flatten(model, known, np.zeros(16, np.uint8))

    def test_other_dtypes_are_placed_by_name(self):
        joined = {"a": np.zeros(2, np.float32), "b": np.zeros(1), "c": np.float32(0), "d": np.zeros(1, np.float16), "n": np.array([1, 2])}
        known, vector = tree.tensors(joined), np.zeros(32, dtype=np.uint8)
        model = {"a": np.float32([1, 2]), "b": np.float32([3]), "c": np.float64(4), "d": np.float64([5]), "n": np.array([3, 4])}
        self.assertNotEqual([t.name for t in tree.tensors(model)], [t.name for t in known])
        narrowed = tree.flatten(model, known, vector)
        self.assertEqual([t.name for t in narrowed], ["c", "d"])
        bare = tree.skeleton(model, known, tree.skeleton(joined))
        self.assertEqual(tree.tensors(bare), known)
        back = tree.unflatten(bare, vector)
        self.assertEqual({name: np.ravel(back[name]).tolist() for name in back}, {"a": [1, 2], "b": [3], "c": [4], "d": [5], "n": [3, 4]})
        self.assertEqual([back[name].dtype for name in "abcd"], [np.float32, np.float64, np.float32, np.float16])

    def test_torch_state_dict(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
        state = net.state_dict()
        back = through(state)
        self.assertEqual(list(back), list(state))
        for name, tensor in state.items():
            self.assertTrue(torch.equal(back[name], tensor), name)
            self.assertEqual(back[name].dtype, tensor.dtype)
        net.load_state_dict(back)
        half = torch.ones(2, dtype=torch.bfloat16)
        self.assertEqual(tree.tensors(half), [tree.Tensor("model", (2,), "float32")])
        self.assertTrue(torch.equal(through(half), half))


if __name__ == "__main__":
    unittest.main()
