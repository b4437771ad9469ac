"""Leaves of other libraries: stand-ins that behave as their arrays do, torch and pandas."""
import sys
import types
import unittest
from unittest import mock

import numpy as np
import starling
from starling import tree
from test_tree import tensors, through

try:
    import torch
except ImportError:
    torch = None
try:
    import pandas
except ImportError:
    pandas = None


class Array:
    """An immutable array of a library of its own, which numpy can read."""

    def __init__(self, values, library, device="cpu"):
        self._values, self._library, self.device = values, library, device
        self.shape, self.dtype = values.shape, library.Type(values.dtype)

    def __array__(self, dtype=None, copy=None):
        return self._values.astype(dtype) if dtype else self._values


class Type:
    """A dtype that numpy does not know."""

    def __init__(self, dtype, name=None):
        self.numpy, self.name = dtype, name or dtype

    def __str__(self):
        return f"library.{self.name}"


def library(kind, *makers, name="library"):
    """Return a module with the functions `makers`, whose arrays are of `kind`."""
    made = types.ModuleType(name)
    made.Type = Type

    def make(values, dtype=None, **options):
        if not isinstance(values, np.ndarray) or not isinstance(dtype, Type):
            raise TypeError("not an array, or not a dtype of this library")
        return kind(values.astype(dtype.numpy), made, **options)

    for maker in makers:
        setattr(made, maker, make)
    return made


class Libraries(unittest.TestCase):
    def back(self, leaf):
        """Return `leaf`, once through a vector, and see that it is one of its library with the same values."""
        back = through({"w": leaf})["w"]
        self.assertIs(type(back), type(leaf))
        self.assertIsNot(back, leaf)
        np.testing.assert_array_equal(back._values, leaf._values)
        self.assertEqual(back._values.dtype, leaf._values.dtype)
        return back

    def test_the_array_api(self):
        class Jax(Array):
            def __array_namespace__(self):
                return self._library

        leaf = Jax(np.float16([[1, 2]]), library(Jax, "asarray"), "gpu:1")
        self.assertEqual(tensors([leaf]), [tree.Tensor("0", (1, 2), "float32")])
        self.assertEqual(self.back(leaf).device, "gpu:1")

    def test_a_function_of_another_name(self):
        class Eager(Array):
            __module__ = "tensorflow.python.framework.ops"

            def __init__(self, values, library):
                super().__init__(values, library)
                del self.device

        with mock.patch.dict(sys.modules, tensorflow=library(Eager, "convert_to_tensor")):
            self.back(Eager(np.float32([1, 2]), sys.modules["tensorflow"]))

    def test_a_type_that_its_constructor_makes(self):
        eager = library(Array, "convert_to_tensor")

        class Variable(Array):
            __module__ = "tensorflow.python.ops"

            def __init__(self, values):
                super().__init__(values, eager)

        with mock.patch.dict(sys.modules, tensorflow=eager):
            self.back(Variable(np.float32([1, 2])))

    def test_dlpack(self):
        class Mlx:
            """An array that numpy reads by DLPack alone."""

            __module__ = "mlx.core"

            def __init__(self, values, library):
                self._values, self.shape, self.dtype = values, values.shape, Type(values.dtype)

            def __dlpack__(self, **options):
                return self._values.__dlpack__()

            def __dlpack_device__(self):
                return self._values.__dlpack_device__()

        with mock.patch.dict(sys.modules, {"mlx.core": library(Mlx, "array")}):
            self.back(Mlx(np.float32([1, 2]), sys.modules["mlx.core"]))

    def test_a_device_that_numpy_cannot_read(self):
        class Cupy(Array):
            __module__, __cuda_array_interface__ = "cupy", {}

            def __array__(self, dtype=None, copy=None):
                raise TypeError("Implicit conversion to a NumPy array is not allowed")

            def get(self):
                return self._values

        with mock.patch.dict(sys.modules, cupy=library(Cupy, "asarray")):
            self.back(Cupy(np.float64([1, 2]), sys.modules["cupy"]))

    def test_short_floats(self):
        """Arrays of bfloat16, a dtype that numpy does not have."""
        class Jax(Array):
            def __init__(self, values, library):
                super().__init__(values, library)
                self.dtype = library.bfloat16

            def __array__(self, dtype=None, copy=None):
                raise TypeError("numpy has no bfloat16")

            def __array_namespace__(self):
                return self._library

            def astype(self, dtype):
                return Array(self._values, self._library) if dtype is self._library.float32 else None

        made = library(Jax, "asarray")
        made.bfloat16, made.float32 = Type(np.dtype(np.float32), "bfloat16"), Type(np.dtype(np.float32))
        leaf = Jax(np.float32([1, 2]), made)
        self.assertEqual(self.back(leaf).dtype, made.bfloat16)
        self.assertEqual([str(tensor) for tensor in tensors(leaf)], ["model float32 [2]"])

    def test_a_leaf_that_cannot_come_back_is_refused_before_the_learner_is_asked(self):
        class Lost(Array):
            __module__ = "lost"

        class Shaped(Array):
            __module__ = "lost"

            def __init__(self, shape, *library):
                super().__init__(np.zeros(2), LOST)

        class Held(dict):
            def __init__(self, w):
                super().__init__(w=w)

            def __setitem__(self, key, value):
                raise KeyError("not to be changed")

        held, shaped = Held(w=np.zeros(2)), Shaped(2)
        shaped._values = np.ones(2)
        for model, text in ((Lost(np.zeros(2), LOST), "nothing makes a lost.*Lost from a numpy array"), (shaped, "w then has other values"),
                            (held, "w.w float64 .2. is missing")):
            with self.subTest(text), self.assertRaisesRegex(TypeError, "the model cannot be built from its mean: .*" + text):
                starling.join({"w": model}, "/dev/null/x")
            with self.subTest(text), starling.join(path="/dev/null/x") as group, self.assertRaisesRegex(TypeError, text):
                group.mean({"w": model})


LOST = library(Array)


@unittest.skipIf(torch is None, "torch is not installed")
class Torch(unittest.TestCase):
    def test_another_device(self):
        class Away(torch.Tensor):
            """A tensor on another device; only `cpu` tells its values."""

            def detach(self):
                return self

            def cpu(self):
                return self.values

        leaf = torch.empty(2, device="meta").as_subclass(Away)
        leaf.values = torch.tensor([1.0, 2.0])
        template, arrays = tree.take_apart(leaf)
        self.assertEqual(arrays["model"].tolist(), [1, 2])
        self.assertEqual(template.build(arrays).device.type, "meta")
        with self.assertRaisesRegex(TypeError, "w cannot be read: .*no data"):
            tensors({"w": torch.empty(2, device="meta")})
        with self.assertRaisesRegex(TypeError, "w cannot be read: .*dense()"):
            tensors({"w": torch.ones(2).to_sparse()})

    def test_a_module_is_its_state_dict(self):
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
        back = through({"net": net, "deep": [net]})
        for state in (back["net"], back["deep"][0]):
            self.assertEqual(list(state), list(net.state_dict()))
            self.assertEqual(state._metadata, net.state_dict()._metadata)
            net.load_state_dict(state)

    def test_an_optimizer_before_its_first_step(self):
        net = torch.nn.Linear(2, 1)
        for kind, options, empty in ((torch.optim.Adam, {}, True), (torch.optim.RMSprop, {}, True), (torch.optim.SGD, {"momentum": 0.9}, True),
                                     (torch.optim.SGD, {}, False), (torch.optim.Adagrad, {}, False)):
            new = kind(net.parameters(), 0.1, **options)
            if not empty:
                tensors({"net": net, "optimizer": new})
                continue
            with self.assertRaisesRegex(ValueError, "^optimizer.state of the optimizer is empty before its first step: .* or leave"):
                tensors({"net": net, "optimizer": new})
            for parameter in net.parameters():
                parameter.grad = torch.zeros_like(parameter)
            new.step()
            self.assertGreater(len(tensors({"net": net, "optimizer": new})), 2)
        before = tree.take_apart({"net": net, "o": {"state": {}, "param_groups": []}})[0]
        with self.assertRaisesRegex(ValueError, "o.state.0 float64 .* was missing or had no floats; an optimizer has a state from its first"):
            tree.take_apart({"net": net, "o": {"state": {0: 1.0}, "param_groups": []}}, before)

    def test_an_optimizer(self):
        net = torch.nn.Linear(2, 1)
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.9, 0.99))
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        state = optimizer.state_dict()
        names = [tensor.name for tensor in tensors({"net": net, "optimizer": optimizer})]
        self.assertIn("optimizer.state.0.exp_avg_sq", names)
        self.assertFalse([name for name in names if "param_groups" in name])
        back = through(state)
        self.assertEqual(back["param_groups"], state["param_groups"])
        self.assertEqual(list(back["state"]), [0, 1])
        optimizer.load_state_dict(back)

    def test_tied_weights_are_sent_once(self):
        net = torch.nn.ModuleDict({"out": torch.nn.Linear(3, 2, bias=False), "embed": torch.nn.Embedding(2, 3)})
        net["out"].weight = net["embed"].weight
        state = net.state_dict()
        self.assertEqual([tensor.name for tensor in tensors(net)], ["embed.weight"])
        back = through(state)
        self.assertEqual(list(back), ["out.weight", "embed.weight"])
        self.assertEqual(back["out.weight"].data_ptr(), back["embed.weight"].data_ptr())
        net.load_state_dict(back)
        before, _ = tree.take_apart(net)
        apart = {name: tensor.clone() for name, tensor in state.items()}
        self.assertEqual(tree.take_apart(apart, before)[0].tensors, before.tensors)
        apart["out.weight"] += 1
        with self.assertRaisesRegex(ValueError, "the model changed: out.weight and embed.weight were the same memory"):
            tree.take_apart(apart, before)

    def test_what_is_not_tied(self):
        whole = torch.zeros(4)
        self.assertEqual(len(tensors({"empty": torch.zeros(0), "other": torch.zeros(0), "one": torch.ones(1)})), 3)
        self.assertEqual(len(tensors({"whole": whole, "part": whole[:2], "shape": whole.view(2, 2), "copy": whole.clone()})), 4)
        same = np.zeros(2)
        self.assertEqual(len(tensors([same, same])), 2)  # arrays that training replaces


@unittest.skipIf(pandas is None, "pandas is not installed")
class Pandas(unittest.TestCase):
    def test_a_series(self):
        series = pandas.Series(np.float32([1, 2]), index=["a", "b"], name="weights")
        pandas.testing.assert_series_equal(through([series])[0], series)
        counts = pandas.Series([1, 2], index=["a", "b"])
        self.assertIs(through([1.0, counts])[1], counts)

    def test_types_with_missing_values(self):
        for dtype in ("Float64", "Float32"):
            series = pandas.Series([1, 2.5], dtype=dtype)
            pandas.testing.assert_series_equal(through([series])[0], series)
            self.assertEqual([str(tensor) for tensor in tensors({"s": series})], [f"s {dtype.lower()} [2]"])
            with self.assertRaisesRegex(TypeError, r"0 cannot be read: it has missing values \(pandas.NA\), which cannot be averaged"):
                through([series.where(series > 1)])
        for counts in (pandas.Series([1, None], dtype="Int64"), pandas.Series([True, None], dtype="boolean")):
            self.assertIs(through([1.0, counts])[1], counts)

    def test_a_frame_is_its_columns(self):
        frame = pandas.DataFrame({"y": np.float32([1, 2]), "x": [0.5, 1.5], "n": [3, 4]}, index=["a", "b"])
        pandas.testing.assert_frame_equal(through({"f": frame})["f"], frame)
        self.assertEqual([str(tensor) for tensor in tensors({"f": frame})], ["f.x float64 [2]", "f.y float32 [2]"])
        self.assertEqual(tensors(frame), tensors(frame[["n", "x", "y"]]))  # whatever the order of the columns
        pairs = frame[["x"]].set_axis(pandas.MultiIndex.from_tuples([("x", 1)]), axis=1)
        pandas.testing.assert_frame_equal(through(pairs), pairs)
        with self.assertRaisesRegex(ValueError, "two tensors have the name x"):
            tensors(frame[["x", "x"]])
        with self.assertRaisesRegex(TypeError, "text has the dtype object"):
            tensors(frame.assign(text=["a", "b"]))


if __name__ == "__main__":
    unittest.main()
