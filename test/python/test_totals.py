"""Exact totals: what a learner gives, what it prints, and its conversation with a learner that follows a script."""
import argparse
import contextlib
import io
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
from fake_learner import FakeLearner
from starling import Error
from starling.stats import InputError, command, mean
from starling.stats.csv import Numbers, read
from starling.stats.totals import Answer, Asking, Own, Question, ask, read_array

POINT = Numbers(thousands="")


def own_of(question, *words, numbers=POINT):
    own = Own(question)
    for word in words:
        own.add_typed(word, numbers)
    return own


def answer(own, others=(), decimals=None, learners=3):
    """Return the answer where the doubles of `others` are added, as the learners do."""
    models = [own.model, *(other.model for other in others)]
    means = {name: np.float64(sum(np.longdouble(1) * model[name] for model in models) / learners) for name in own.model}
    group = SimpleNamespace(ask=lambda: means, committed=1, participants=learners, total_weight=learners, decimals=decimals)
    group.total = lambda *arguments: Asking.total(group, *arguments)
    group.total_of_element = lambda value: Asking.total_of_element(group, value)
    return Answer(group, own)


class Refusing(unittest.TestCase):
    def refused(self, said, act, *arguments):
        with self.assertRaises(InputError) as caught:
            act(*arguments)
        self.assertIn(said, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))


class Values(Refusing):
    def total(self, kind, *words):
        question = Question(kind)
        first, *others = (own_of(question, word) for word in words)
        return str(answer(first, others, learners=len(words)))

    def test_sums_are_exact_in_decimals(self):
        for expected, *words in (("0.30", "0.10", "0.15", "0.05"), ("899999999.99997", *["299999999.99999"] * 3), ("-1.5", "2", "-4.25", "0.75"),
                                 ("100000000003.251", "1e11", "3.25", "0.001"), ("1015", "1e3", "1.0e1", "5"), ("299.75", "120", "80.5", "99.25"),
                                 ("299.750", "120.000", "80.50", "99.25"), ("106.0", "-1.5", "+2", ".5", "5.", "1E2"), ("0", "-0", "0", "0"),
                                 ("0.000000000003", "1e-12", "2e-12", "0")):
            self.assertEqual(self.total("sum", *words), expected)

    def test_a_mean_has_two_more_decimals(self):
        for expected, *words in (("21.233", "21.5", "19.0", "23.2"), ("1.33", "1", "1", "2"), ("-1.33", "-1", "-1", "-2"), ("0.00", "0", "0", "0"),
                                 ("0.550", "0.5", "0.5", "0.6", "0.6"), ("0.13", *"0010", "0", "0", "0", "0"), ("-0.13", "-1", *"0000000")):
            self.assertEqual(self.total("mean", *words), expected)
        self.assertEqual(str(answer(own_of(Question("mean"), "1", "2", "6", "1"))), "2.50")  # of the rows, not of the learners

    def test_a_total_of_too_many_digits(self):
        self.refused("sum: the total has more than 15 digits", self.total, "sum", *["99999999999999.9"] * 3)
        self.refused("the sum has more than 15 digits: use a larger unit", own_of, Question("sum"), "2000000000000000", "2000000000000000")

    def test_words_that_are_no_exact_numbers(self):
        for word in ("1,5", "1,500", "NaN", "", " 5", "0x10", "1_000", "inf", "1e", "1e+-3", "1e\t3", "e5", ".", "1 000", "1'000"):
            self.refused(f"{word!r} is not a number", own_of, Question("sum"), word)
        for word in ("0.1234567890123", "3.5e-12", "1e-99999999999999999999", "1e99999999999999999999", "9e15"):
            self.refused(f"{word!r} has too many digits", own_of, Question("sum"), word)
        self.refused("unless --decimal , is given", own_of, Question("sum"), "1,5")
        self.assertEqual(own_of(Question("sum"), "1,5", numbers=Numbers(",", "")).values, [Decimal("1.5"), 1])
        self.assertEqual(own_of(Question("sum"), "1.500", numbers=Numbers(",", ".")).values, [1500, 1])

    def test_digits_that_the_learners_keep(self):
        first, *others = (own_of(Question("sum"), word) for word in ("1.25", "2", "3"))
        self.assertEqual(str(answer(first, others, decimals=2)), "6.25")
        self.assertEqual(str(answer(own_of(Question("sum"), "1"), others, decimals=7)), "6")


class Questions(Refusing):
    def test_names_carry_the_question(self):
        self.assertEqual(Question("mean").names, ["mean", "rows"])
        self.assertEqual(Question("sum", "a b").names, ["sum:a b", "rows"])
        self.assertEqual(Question("count", None, "yes,no").names, ["count:yes", "count:no"])
        self.assertEqual(Question("count", "q", "yes,no").names, ["count:q=yes", "count:q=no"])
        self.assertEqual(Question("histogram", None, bins="-5,0,10.50,1e3").names,
                         ["histogram:<-5", "histogram:[-5,0)", "histogram:[0,10.5)", "histogram:[10.5,1000)", "histogram:>=1000"])
        self.assertEqual(Question("histogram", "q", bins="-0,1").names[0], "histogram:q<0")

    def test_questions_that_cannot_be_asked(self):
        for said, *arguments in (("'yes' is there twice", "count", None, "yes,yes"), ("an empty word", "count", None, "yes,,no"),
                                 ("at least two, such as yes,no", "count", None, "yes"), ("1 does not follow 2: edges rise", "histogram", None, None, "2,1"),
                                 ("2.0 does not follow 2", "histogram", None, None, "2,2.0"), ("at least two edges", "histogram", None, None, "2"),
                                 ("'x' is not a number; write 0,10,20", "histogram", None, None, "2,x"),
                                 ("has at most 1023 bytes: shorten it", "mean", "x" * 1019), ("has at most 1023 bytes", "count", None, "ö" * 509 + ",a")):
            self.refused(said, Question, *arguments)
        self.assertEqual(len(Question("mean", "x" * 1018).names[0]), 1023)

    def test_categories(self):
        own = own_of(Question("count", "q", "yes,no,1"), "yes", "1", "yes")
        self.assertEqual(own.values, [2, 0, 1])
        self.assertEqual(str(answer(own)), "yes 2\nno  0\n1   1")
        self.refused("'jes' is none of the categories yes,no; did you mean 'yes'?", own_of, Question("count", None, "yes,no"), "jes")
        self.refused("'1.0' is none of the categories 0,1", own_of, Question("count", None, "0,1"), "1.0")

    def test_a_value_on_an_edge_is_in_the_upper_bin(self):
        own = own_of(Question("histogram", bins="0,10.5,20"), "-0.1", "0", "10.5", "20")
        self.assertEqual(own.values, [1, 1, 1, 1])
        self.assertEqual(str(answer(own)), "< 0              1\n[0, 10.5)        1\n[10.5, 20)       1\n>= 20            1")
        self.assertEqual(answer(own).json(), '{"question": "histogram", "column": null, "bins": [{"from": null, "to": 0, "count": 1}, '
                         '{"from": 0, "to": 10.5, "count": 1}, {"from": 10.5, "to": 20, "count": 1}, {"from": 20, "to": null, "count": 1}], '
                         '"rows": 4, "learners": 3, "round": 1}')

    def test_json_has_all_digits(self):
        question = Question("mean", 'ä "b"')
        first, *others = (own_of(question, word) for word in ("0.10", "0.15", "0.05"))
        self.assertEqual(answer(first, others).json(), '{"question": "mean", "column": "ä \\"b\\"", "mean": 0.1000, "sum": 0.30, "rows": 3, '
                         '"learners": 3, "round": 1}')
        self.assertEqual(answer(first, others).notes, "3 learners, 3 rows")
        self.assertEqual(answer(own_of(question, "1")).notes, "3 learners, 1 row")
        self.assertEqual(answer(own_of(Question("count", None, 'ja "so",nö'), "nö")).json(),
                         '{"question": "count", "column": null, "counts": {"ja \\"so\\"": 0, "nö": 1}, "rows": 1, "learners": 3, "round": 1}')

    def test_no_rows(self):
        self.assertEqual(str(answer(Own(Question("sum")))), "0")
        with self.assertRaisesRegex(Error, "no learner has a row: there is no mean"):
            str(answer(Own(Question("mean"))))


class Files(Refusing):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(Path(folder.name, "a.csv"))

    def own(self, data, question, **options):
        Path(self.path).write_bytes(data if isinstance(data, bytes) else data.encode())
        own = Own(question)
        own.add_file(read(self.path, empty=True, **options))
        return own

    def test_sums_of_files(self):
        for data, total, skipped in (('value,desc\n3,5" pipe\n4,6" pipe\n100,x\n 5 ,"a ""b"", c\nd" \n\n"0.5",', "112.5", 0),
                                     ("desc,value\ra,1\r\rb,2", "3", 0), (b'\xef\xbb\xbf"value"\r\n1\r\n2\r\n', "3", 0),
                                     ("value\n1.23e3\n0e+5\n", "1230", 0), ("value\nNA\nnan\n\n\"\"\n1\n", "1", 3), ("value\n", "0", 0),
                                     ("value\n1,5\n2,5\n", "4.0", 0), ("value;n\n1.234.567,89;1\n0,01;2\n", "1234567.90", 0),
                                     ("value\tn\n1 000\t1\n", "1000", 0), ("value,other,other\n5,1,2\n", "5", 0)):
            own = self.own(data, Question("sum", "value"))
            self.assertEqual((str(own.values[0]), own.skipped), (total, skipped), data)

    def test_files_that_cannot_be_used(self):
        for said, data in (("line 3: 3 fields, and the first line has 2: put quotes around a field with ','", "value,desc\n1,a\n1,5,b\n"),
                           ("line 2: 1 field, and the first line has 2: a field is missing; between separators a missing value is an empty field, as "
                            "in 1,,3", "value,desc\n1\n"),
                           ("line 2: a zero byte", "value,desc\n1\0002,a\n"), ("line 2: a quoted field has no end", 'value,desc\n1,"a\n2,b\n'),
                           ("line 2: text after the quotes of a field", 'value\n"1"5\n'), ("has two columns 'value': rename one", "value,desc,value\n1,a,2\n"),
                           ("is empty", "\n\n"), ("has no column 'value': it has 1", "\n1\n"), ("line 3: value is 'x', which is no number; name the word as "
                            "missing (--missing), or count words with 'starling count'", "value\n1\nx\n"),
                           ("line 2, column value: '0.1234567890123' has too many digits", "value\n0.1234567890123\n"),
                           ("line 2: value is 'E10', which is no number", "value\nE10\n"),
                           ("line 2: value is '1,234': the file does not show", "value;a\n1,234;x\n")):
            self.refused(said, self.own, data, Question("sum", "value"))
        self.refused("name the column with --column NAME", self.own, "value\n1\n", Question("sum"))

    def test_words_of_files(self):
        question = Question("count", "value", "yes,NA")
        own = self.own("value\nyes\n NA\nnull\n\"\"\nyes\n", question)
        self.assertEqual((own.values, own.skipped), ([2, 1], 2))
        self.refused("line 2, column value: 'jes' is none of the categories yes,NA; did you mean 'yes'?", self.own, "value\njes\n", question)
        self.assertEqual(self.own("value\nyes\n-99\n", question, missing=("", "-99")).skipped, 1)


class Arrays(Refusing):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(Path(folder.name, "a.npy"))

    def array(self, array, end=None, more=b""):
        np.save(self.path, array)
        Path(self.path).write_bytes(Path(self.path).read_bytes()[:end] + more)
        return read_array(self.path)

    def test_any_array_of_numbers(self):
        for array in (np.array([0.25, 1.5], "f4"), np.array([3, 500]), np.array(2.5), np.array([1.0, 2], ">f8"), np.array([[1, 255]], "u1"),
                      np.asfortranarray(np.arange(6.0).reshape(2, 3))):
            got = self.array(array)
            self.assertEqual((got.dtype, got.shape, got.tolist()), (np.float64, array.shape, array.tolist()))

    def test_arrays_that_cannot_be_used(self):
        for said, array in (("an element is not a finite number", np.array([1, np.nan])), ("an integer is beyond 2^53", np.array([2**53 + 2])),
                            ("an empty or too large shape", np.zeros((0, 3))), ("an empty or too large shape", np.zeros([1] * 9)),
                            ("an array of <U1; give one of float32, float64 or integers", np.array(["a"])), ("not an .npy file", np.array([{}]))):
            self.refused(said, self.array, array)
        self.refused("not an .npy file, or a damaged one", self.array, np.arange(3), -3)
        self.refused("longer than its header says", self.array, np.arange(3), None, b"x")
        self.refused("a.npy: not an .npy file", self.array, np.arange(3), 0, b"a,b\n1,2\n")
        for header in (b"'" * 3, b"(", b"-" * 4000 + b"1", b"{'descr': '<f8', b'fortran_order': False, 'shape': (2,)}",
                       b"{'descr': '<f8', 'fortran_order': False, 'shape': (True,)}"):
            self.refused("a.npy: not an .npy file", self.array, np.arange(3), 6, b"\1\0" + len(header).to_bytes(2, "little") + header + bytes(16))
        self.refused("none.npy: No such file or directory", read_array, "none.npy")

    def test_numbers_or_one_array(self):
        np.save(self.path, np.arange(3))
        own = Own(Question("sum"))
        own.add_array(self.path)
        self.refused("a learner gives numbers or one array", own.add_array, self.path)
        self.refused("'3' and --npy: a learner gives numbers or one array", own.add_typed, "3", POINT)
        self.refused("a learner gives numbers or one array", own_of(Question("sum"), "3").add_array, self.path)

    def test_sums_of_elements(self):
        own = Own(Question("sum"))
        own.array = np.array([[0.1, 1 / 3], [1e-9, 123456.789]])
        got = answer(own, [own, own])
        self.assertEqual((str(got), got.array.shape), ("0.3\n1\n3e-09\n370370.367", (2, 2)))
        self.assertEqual(got.json(), '{"question": "sum", "column": null, "elements": 4, "learners": 3, "round": 1}')
        self.assertEqual(answer(own, [own, own], decimals=2).array.tolist(), [[0.3, 1.0], [0, 370370.37]])
        own.question = Question("mean")
        self.assertEqual(str(answer(own, [own, own])), "0.1\n0.333333333333333\n1e-09\n123456.789")


class Conversation(unittest.TestCase):
    def ask(self, script, *words, kind="sum"):
        """Return the answer as text, or the error, and what was told."""
        told = []

        def to_the_end(learner):
            with contextlib.suppress(ConnectionError):
                script(learner)
                learner.hear("the end")
        with FakeLearner(to_the_end) as learner:
            try:
                return str(ask(own_of(Question(kind), *words), learner.path, told.append)), told
            except (Error, InputError) as failure:
                return str(failure), told

    def given(self, learner):
        learner.hear("trained")
        return dict(zip((tensor["name"] for tensor in learner.tensors), learner.up.tolist()))

    def test_a_round(self):
        def script(learner):
            learner.accept()
            self.assertEqual((learner.values, [tensor["shape"] for tensor in learner.tensors]), ("model", [[], []]))
            learner.tell("waiting", text="waiting for c (3) to be ready")
            learner.train(1, 0)
            self.assertEqual(self.given(learner), {"sum": 3.5, "rows": 2})
            learner.mean(1, [2 / 30 if tensor["name"] == "rows" else 7 / 30 for tensor in learner.tensors])
        self.assertEqual(self.ask(script, "1.5", "2"), ("7.0", ["waiting for c (3) to be ready"]))

    def test_an_earlier_call_is_no_answer_while_rounds_are_left(self):
        def script(learner):
            learner.accept()
            learner.mean(1, 1.0)
            learner.train(2, 1)
            self.given(learner)
            learner.mean(2, 0.1)
        self.assertEqual(self.ask(script, "1")[0], "3")

    def test_the_answer_of_an_earlier_call_if_no_round_is_left(self):
        def script(learner):
            learner.accept()
            learner.mean(5, 0.1)
            learner.tell("done")
        self.assertEqual(self.ask(script, "1")[0], "3")

    def test_the_run_is_over(self):
        def script(learner):
            learner.accept()
            learner.tell("done")
        self.assertIn("the run is over: all of its 5 rounds are committed; start the learners with more rounds", self.ask(script, "1")[0])

    def test_the_same_answer_is_not_given_again(self):
        def first(learner):
            learner.accept()
            learner.train(1, 0, again=True)

        def later(learner):
            learner.begin()
            self.given(learner)
            learner.train(1, 0, again=True)
        for script in (first, later):
            self.assertIn("round 1 failed after deposit keys were sent; the same answer again could reveal it: set membership_change: wait or cohort", self.ask(script, "1")[0])

    def test_the_same_answer_where_it_tells_nothing(self):
        def first(learner):
            learner.settings = {"repeatable": True}
            learner.accept()
            learner.train(1, 0, again=True)
            self.given(learner)
            learner.mean(1, 0.1)
            learner.tell("done")

        def later(learner):
            learner.settings = {"repeatable": True}
            learner.accept()
            for again in (False, True, True):
                learner.train(1, 0, again=again)
                self.given(learner)
            learner.mean(1, 0.1)
            learner.tell("done")
        for script in (first, later):
            self.assertEqual(self.ask(script, "1")[0], "3")

    def test_a_learner_that_no_longer_knows_how_many_took_part(self):
        def script(learner):
            learner.begin()
            self.given(learner)
            learner.drop()
            learner.accept()
            learner.train(2, 1)
        self.assertIn("round 1 is committed, but the learner was started again and no longer knows how many took part: ask again", self.ask(script, "1")[0])

    def test_another_question(self):
        def script(learner):
            learner.accept()
            learner.tell("waiting", text="b (2) trains another model: tensor 1 is sum:b float64 [] there")
        said, _ = self.ask(script, "1")
        self.assertIn("b (2) trains another model: tensor 1 is sum:b float64 [] there: all learners must ask the same question: the same command", said)
        self.assertTrue(said.endswith("agree on it, and start all daemons with another run: and another state:"))

    def test_a_second_question(self):
        def script(learner):
            learner.say(b'{"type": "error", "text": "this run has another model"}\n')
        self.assertEqual(self.ask(script, "1")[0], "this run has another model: a run answers one question: for another one, start all daemons with another "
                         "run: and another state:")

    def test_settings_that_drop_digits(self):
        def script(learner):
            learner.settings = {"decimals": 1, "clipping_range": 100.0}
            learner.begin()
        self.assertIn("a value has 2 decimals, and the learners keep 1: set decimals: 2 at all of them", self.ask(script, "1.55")[0])
        self.assertIn("150 is beyond clipping_range 100 of the learners: set clipping_range: 1000 at all of them", self.ask(script, "150")[0])

        def agreed(learner):  # in the round
            learner.begin()
            self.given(learner)
            learner.mean(1, 0.1, decimals=0, clipping_range=1e9)
        self.assertIn("a value has 1 decimals, and the learners keep 0", self.ask(agreed, "1.5")[0])


class Command(unittest.TestCase):
    def run_it(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = mean.main(*arguments)
            except SystemExit as end:
                status = end.code
        return status, err.getvalue()

    def test_one_clear_line(self):
        for said, *arguments in (("starling mean: give a value or --csv FILE; see 'starling mean --help'", "mean", []),
                                 ("name all categories: --categories yes,no,abstain", "count", ["yes"]),
                                 ("name the edges of the bins: --bins 0,10,20,30", "histogram", ["5"]),
                                 ("--local needs at least 3 values, one for each learner: of two learners", "mean", ["--local", "1", "2"]),
                                 ("--local and --socket: leave one of them out", "mean", ["--socket", "x", "--local", "1", "2", "3"]),
                                 ("--output is for the array of --npy", "sum", ["3", "-o", "x.npy"]), ("argument --csv: expected one argument", "mean", ["--csv"]),
                                 ("unrecognized arguments: --colunm; did you mean '--column'?", "mean", ["3", "--colunm"]),
                                 ("unrecognized arguments: --npy", "count", ["--categories", "a,b", "--npy", "x.npy"]),
                                 ("--output /no/such/x.npy: No such file or directory", "mean", ["--npy", "x.npy", "-o", "/no/such/x.npy"]),
                                 ("--output /: Is a directory", "mean", ["--npy", "x.npy", "-o", "/"]),
                                 ("no learner is named: give the socket of yours", "mean", ["3", "--socket", ""]),
                                 ("no.csv: No such file or directory", "mean", ["--csv", "no.csv", "--column", "x"])):
            with mock.patch.dict("os.environ", STARLING_SOCKET=""):
                status, err = self.run_it(*arguments)
            self.assertEqual((status, err.count("\n")), (2, 1), err)
            self.assertIn(said, err)
        with mock.patch("starling.stats.command.read_file", side_effect=MemoryError):
            self.assertEqual(self.run_it("mean", ["--csv", "large.csv", "--column", "x"]), (1, "starling mean: out of memory\n"))
        status, err = self.run_it("mean", ["--socket", "/dev/null/x", "3"])
        self.assertEqual((status, err), (1, "starling mean: /dev/null/x: Not a directory\n"))

    def test_negative_numbers_are_values(self):
        for arguments in (["-1", "-.5", "-1e2", "--column", "x", "3"], ["--column", "x", "3", "--", "-1", "-.5", "-1e2"]):
            o = mean.parser("sum").parse_intermixed_args(mean.marked(arguments))
            self.assertEqual((sorted(text for _, text in o.inputs), o.column), (["-.5", "-1", "-1e2", "3"], "x"))
        o = mean.parser("histogram").parse_intermixed_args(mean.marked(["--bins", "-5,0", "1"]))
        self.assertEqual(o.bins.lstrip(mean.VALUE), "-5,0")

    def test_a_dry_run_shows_what_is_understood(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "a.csv"))
            Path(path).write_text("kWh;n\n1.234,50;a\n;b\n-3;c\n")
            status, err = self.run_it("sum", ["--csv", path, "--column", "kWh", "--dry-run"])
        self.assertEqual((status, err.splitlines()), (0, [
            f"{path}: utf-8, separator semicolon, decimals after a comma, 2 columns, 3 rows", "  kWh", "  1.234,50", "  missing", "  -3",
            f"starling sum: {path}: 1 missing value skipped", f"{path}: would give sum:kWh 1231.50, rows 2"]))

    def test_forms_of_a_local_run(self):
        o = argparse.Namespace(inputs=[("npy", "i8.npy"), ("value", "7")])
        array = Own(Question("mean"))
        array.array = np.zeros((1, 3))
        with self.assertRaisesRegex(InputError, r"i8.npy gives an array of shape \[1,3\], and 7 no array: all learners must give arrays"):
            mean.check_forms(o, [array, own_of(Question("mean"), "7")])

    def test_lists_of_names(self):
        self.assertEqual(command.names(" a, b,,c d "), ["a", "b", "c d"])


if __name__ == "__main__":
    unittest.main()
