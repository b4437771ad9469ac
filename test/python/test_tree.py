"""Models as nested containers, and as one vector."""
import gc
import unittest
import weakref
from collections import OrderedDict, UserDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from starling import tree

Pair = namedtuple("Pair", "left right")


@dataclass(frozen=True)
class Point:
    x: np.ndarray
    y: float
    seen: int = field(default=0, init=False)


def tensors(model):
    return tree.take_apart(model)[0].tensors


def through(model, before=None):
    """Take `model` apart, put it into a vector and build it again from that."""
    template, arrays = tree.take_apart(model, before)
    template.check(arrays)
    vector = np.zeros(template.bytes, dtype=np.uint8)
    tree.fill(vector, template.tensors, arrays)
    return template.build(tree.places(template.tensors, vector))


class Tree(unittest.TestCase):
    def test_names_shapes_and_dtypes_in_order(self):
        model = {"z": [np.zeros((2, 3)), 1.0], "a": (np.float32(2),), "half": np.zeros(1, np.float16), "count": np.array(5), "flag": True}
        self.assertEqual(tensors(model), [
            tree.Tensor("z.0", (2, 3), "float64"), tree.Tensor("z.1", (), "float64"),
            tree.Tensor("a.0", (), "float32"), tree.Tensor("half", (1,), "float32")])
        back = through({"narrow": np.float32(0.1), "wide": 0.1, "w": np.full(2, 1e300)})
        self.assertEqual((back["narrow"], back["wide"], back["w"].tolist()), (np.float32(0.1), 0.1, [1e300, 1e300]))
        self.assertEqual(tensors(np.zeros(4, np.float32)), [tree.Tensor("model", (4,), "float32")])

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
        template, arrays = tree.take_apart(other)
        self.assertEqual(tensors(one), template.tensors)
        vector = np.zeros(12, dtype=np.uint8)
        tree.fill(vector, template.tensors, arrays)
        self.assertEqual(vector.view("<f4").tolist(), [1, 1, 0])
        self.assertEqual(list(template.build(arrays)), ["b", "a"])

    def test_the_result_does_not_share_memory(self):
        model = np.zeros(3)
        back = through(model)
        back += 1
        self.assertEqual(model.tolist(), [0, 0, 0])

    def test_a_template_holds_no_values(self):
        class Watched(np.ndarray):
            pass

        model = OrderedDict(w=np.arange(3.0).view(Watched), deep=[Point(np.zeros(2).view(Watched), 1.0)])
        seen = [weakref.ref(model["w"]), weakref.ref(model["deep"][0].x)]
        template, arrays = tree.take_apart(model)
        del model, arrays
        gc.collect()
        self.assertEqual([ref() for ref in seen], [None, None])
        self.assertEqual(template.build({"w": np.ones(3), "deep.0.x": np.ones(2), "deep.0.y": np.ones(())})["deep"][0].y, 1)

    def test_containers(self):
        class Named(UserDict):
            label = ""

        class Pairs(list):
            pass

        class Store(dict):
            pass

        counts = defaultdict(list, w=[1.0, None])
        store, named = Store(w=2.0), Named(w=3.0)
        store.note, named.label = "kept", "kept"
        model = {"d": counts, "s": store, "u": named, "p": MappingProxyType({"w": 4.0}), "l": Pairs([5.0]), "n": None,
                 "c": Point(np.ones(2), 6.0)}
        object.__setattr__(model["c"], "seen", 7)
        back = through(model)
        self.assertEqual({key: type(part) for key, part in back.items()}, {key: type(part) for key, part in model.items()})
        self.assertEqual((back["d"], back["d"].default_factory), ({"w": [1, None]}, list))
        self.assertEqual((back["s"], back["s"].note, back["u"]["w"], back["u"].label), ({"w": 2}, "kept", 3, "kept"))
        self.assertEqual((back["p"], back["l"], back["n"]), ({"w": 4}, [5], None))
        self.assertEqual((back["c"].x.tolist(), back["c"].y, back["c"].seen), ([1, 1], 6, 7))
        self.assertEqual((model["c"].y, model["c"].seen), (6, 7))
        back["d"]["w"][0] = back["s"]["w"] = 9
        self.assertEqual((model["d"]["w"], model["s"]["w"]), ([1, None], 2))

    def test_a_dict_whose_keys_are_attributes(self):
        class Store(dict):
            __getattr__ = dict.__getitem__

        back = through(Store(w=2.0, inside=Store(b=3.0)))
        self.assertEqual((type(back), back.w, type(back.inside), back.inside.b), (Store, 2, Store, 3))

    def test_a_container_in_itself(self):
        model = {"a": [np.zeros(2)]}
        model["a"].append(model)
        with self.assertRaisesRegex(ValueError, "^the model has containers in each other 100 deep, at a.1.a...: one may contain itself$"):
            tensors(model)
        deep = np.zeros(2)
        for _ in range(tree.DEPTH_MOST):
            deep = [deep]
        self.assertEqual(len(tensors(deep)), 1)

    def test_what_cannot_be_averaged(self):
        for leaf, text in (("text", "w is a str, which cannot be averaged: leave it out"), (2j, "w is a complex, "),
                           (np.zeros(2, dtype=complex), "w has the dtype complex128, .*: pass its .real and its .imag as two tensors$"),
                           (np.array([1.0, None]), r"w has the dtype object, .*: make it an array of floats by .astype\(float\)$"),
                           (np.array([[1.0], [2, 3]], object), "w has the dtype object, "), (np.array(["2026-11-29"], "M8[D]"), "w has the dtype datetime64.*: leave"),
                           (np.zeros(2, "f4,f4"), "w has the dtype .*: leave it out"),
                           (np.ma.masked_equal([1.0, 9], 9), r"w cannot be read: it is a masked array, .* \.filled\(0\)"),
                           (float, "w is a type, "), (iter([1.0]), "w is a list_iterator, ")):
            with self.subTest(text), self.assertRaisesRegex(TypeError, "^" + text):
                tensors({"w": leaf})
        for model, name in ((iter([1.0]), "list_iterator"), ({"w": 1.0}.values(), "dict_values"), ({}.items, "builtin_function_or_method")):
            with self.assertRaisesRegex(TypeError, f"^model is a {name}, which cannot be averaged: give a dict of arrays, or a torch module"):
                tensors(model)
        with self.assertRaisesRegex(TypeError, "^the model is None: the function that trains it has to return it$"):
            tensors(None)
        with self.assertRaisesRegex(ValueError, "two tensors have the name a.b"):
            tensors({"a.b": 1.0, "a": {"b": 2.0}})

    def test_a_changed_model(self):
        before, _ = tree.take_apart({"w": np.zeros(2)})
        for model, text in (({"w": np.zeros(2), "x": np.zeros(1)}, r"x float64 \[1\] was missing"),
                            ({"v": np.zeros(2)}, r"w float64 \[2\] is missing"),
                            ({"w": np.zeros(2, int)}, r"w float64 \[2\] is missing or has no floats"),
                            ({"w": np.zeros(3, np.float32)}, r"w float32 \[3\], was w float64 \[2\]")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "the model changed: " + text):
                tree.take_apart(model, before)

    def test_other_dtypes_are_placed_by_name(self):
        joined = {"a": np.zeros(2, np.float32), "b": np.zeros(1), "c": np.float32(0), "d": np.zeros(1, np.float16), "n": np.array([1, 2])}
        before, _ = tree.take_apart(joined)
        model = {"a": np.float32([1, 2]), "b": np.float32([3]), "c": np.float64(4), "d": np.float64([5]), "n": np.array([3, 4])}
        self.assertNotEqual([t.name for t in tensors(model)], [t.name for t in before.tensors])
        template, _ = tree.take_apart(model, before)
        self.assertEqual([t.name for t in template.narrowed], ["c", "d"])
        self.assertEqual(template.tensors, before.tensors)
        back = through(model, before)
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
        self.assertEqual(tensors(half), [tree.Tensor("model", (2,), "float32")])
        self.assertTrue(torch.equal(through(half), half))


if __name__ == "__main__":
    unittest.main()
