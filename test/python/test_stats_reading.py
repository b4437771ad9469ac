"""What the statistics read: files of each dialect, formulas; and the probabilities they compute."""
import gzip
import importlib.util
import io
import tempfile
import unittest
from pathlib import Path

import numpy as np

from starling.stats import Columns, InputError, read, special
from starling.stats.csv import columns_of
from starling.stats.formula import design

ROWS = [("Ada \"A.\"", "36.5", "1234.25"), ("Zoë", "NA", "-7"), ("two\nlines; and, more", "41", "0.5")]


def installed(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"missing Debian packages: {' '.join(f'python3-{name}' for name in missing)}")


def text(separator=",", number=str, end="\n"):
    lines = [("name", "age", "income"), *((name, number(age), number(income)) for name, age, income in ROWS)]
    quoted = [['"' + cell.replace('"', '""') + '"' if set(cell) & set('",;\n\t') else cell for cell in line] for line in lines]
    return end.join(separator.join(line) for line in quoted) + end


class Csv(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "data.csv")

    def read(self, data, **options):
        self.path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return read(self.path, **options)

    def expect(self, data, **options):
        got = self.read(data, **options)
        self.assertEqual(list(got.words("name")), [row[0] for row in ROWS])
        np.testing.assert_array_equal(got.numbers("age"), [36.5, np.nan, 41])
        np.testing.assert_array_equal(got.numbers("income"), [1234.25, -7, 0.5])

    def refused(self, said, data, column=None, **options):
        with self.assertRaises(InputError) as caught:
            got = self.read(data, **options)
            got.numbers(column)
        self.assertIn(said, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_comma(self):
        self.expect(text())

    def test_semicolon_and_decimal_comma(self):
        self.expect(text(";", lambda number: number.replace(".", ",")))

    def test_comma_and_decimal_comma(self):
        self.expect(text(",", lambda number: number.replace(".", ",")))

    def test_tab(self):
        self.expect(text("\t"))

    def test_one_column_of_decimal_commas(self):
        self.assertEqual(self.read("a\n1,5\n2\n").numbers("a").tolist(), [1.5, 2])

    def test_blanks_and_quotes(self):
        got = self.read('a , "b" ,c\n 1 , "x ""y"", z\nw" ,5" pipe\n2,,""\n,,\n3,"",\n')
        self.assertEqual((got.names, list(got.words("b"))), (["a", "b", "c"], ['x "y", z\nw', None, None]))
        self.assertEqual((got.numbers("a").tolist(), got.at(2)), ([1, 2, 3], f"{self.path}, line 6"))
        self.assertEqual(list(got.words("c")), ['5" pipe', None, None])

    def test_a_separator_that_is_given(self):
        self.expect(text("|"), separator="|")

    def test_windows_line_ends(self):
        self.expect(text(end="\r\n"))

    def test_byte_order_mark(self):
        self.expect(b"\xef\xbb\xbf" + text().encode())

    def test_utf_16(self):
        self.expect(text().encode("utf-16"))
        self.expect(text().encode("utf-16-le"))
        self.expect(b"\xfe\xff" + text().encode("utf-16-be"))

    def test_latin_1(self):
        self.expect(text().encode("latin-1"))

        got = self.read("name;price\n–;10 €\nZoë;3\n".encode("windows-1252"))
        self.assertEqual((list(got.words("name")), list(got.words("price"))), (["–", "Zoë"], ["10 €", "3"]))
        self.assertEqual(self.read(b"a;b\n\x81;1\n").words("a").tolist(), ["\x81"])  # Latin-1 only

    def test_gzip(self):
        self.expect(gzip.compress(text().encode()))
        self.refused("cannot be unpacked", gzip.compress(text().encode())[:30])

    def test_separator_line_of_spreadsheets(self):
        self.expect("sep=;\n" + text(";"))

    def test_thousands(self):
        for data, options in (('a;b\n1.234.567,5;1\n', {}), ('a,b\n"1,234,567.5",1\n', {}), ("a;b\n1'234'567.5;1\n", {}),
                              ("a;b\n1 234 567,5;1\n", {}), ("a;b\n1\u202f234\u00a0567,5;1\n", {}),
                              ("a;b\n1_234_567.5;1\n", {"thousands": "_"})):
            self.assertEqual(self.read(data, **options).numbers("a").tolist(), [1234567.5], data)
        self.refused("'12,34.5', which is no number", 'a;b\n12,34.5;1\n1.5;2\n', "a")

    def test_a_comma_that_may_be_either(self):
        data = 'a;b\n1,234;x\n2,500;y\n'
        self.refused("line 2: a is '1,234': the file does not show whether decimals or thousands follow", data, "a")
        both = 'a;b;c\n1.234;1,5;x\n2.500;2,5;0.5\n'
        self.refused("line 2: a is '1.234': the file does not show", both, "a")
        self.assertEqual(self.read(both, decimal=".").numbers("a").tolist(), [1.234, 2.5])
        self.assertEqual(self.read(data, decimal=",").numbers("a").tolist(), [1.234, 2.5])
        self.assertEqual(self.read(data, decimal=".").numbers("a").tolist(), [1234, 2500])
        self.assertEqual(self.read(data + "0,5;z\n").numbers("a").tolist(), [1.234, 2.5, 0.5])
        self.assertEqual(self.read(data + "0.5;z\n").numbers("a").tolist(), [1234, 2500, 0.5])

    def test_a_point_between_semicolons_that_may_be_either(self):
        data = "a;b\n1.037;x\n2.500;y\n"
        self.refused("line 2: a is '1.037': the file does not show whether decimals or thousands follow", data, "a")
        self.assertEqual(self.read(data, decimal=",").numbers("a").tolist(), [1037, 2500])
        self.assertEqual(self.read(data, decimal=".").numbers("a").tolist(), [1.037, 2.5])
        self.assertEqual(self.read(data + "0.125;z\n").numbers("a").tolist(), [1.037, 2.5, 0.125])
        self.assertEqual(self.read(data.replace(";", ",")).numbers("a").tolist(), [1.037, 2.5])

    def test_missing_words(self):
        data = "a\n1\nNA\nN/A\nnan\nNULL\n.\n \n\"\"\n#N/A\n<NA>\n-99\n"
        got = self.read(data).numbers("a")
        self.assertEqual((np.isnan(got).sum(), got[-1]), (got.size - 2, -99))
        got = self.read(data.replace("N/A", "?").replace("NA", "?"), missing=("", "?", "-99", "nan", "null", ".", "#?", "<?>")).numbers("a")
        self.assertEqual(np.isnan(got).sum(), got.size - 1)

    def test_files_that_cannot_be_used(self):
        self.refused("data.csv is empty", "")
        self.refused("data.csv has names and no rows", "a,b\n")
        self.refused("line 3: 3 fields, and the first line has 2: put quotes around a field with ','", "a,b\n1,2\n1,2,3\n")
        self.refused("line 3: 1 field, and the first line has 2: a field is missing", "a;b\n1;2\n1\n")
        longer = "line 2: 3 fields, and the first line has 2, as in all lines: name the first column, too"
        self.refused(longer, '"a";"b"\n"1";2;3\n"2";4;5\n')
        self.refused(longer, "a;b\n1;2;\n3;4;\n")
        self.refused("has no column 'a': it has a|b only; --separator names another separator", "a|b\n1|2\n", "a")
        self.refused(f"it has {'b' * 77}... only; --separator", f"{'b' * 100000}\n1\n", "a")
        self.refused("data.csv is a workbook of a spreadsheet program: save its table as CSV there", b"PK\3\4" + bytes(100))
        self.refused("data.csv is a workbook of a spreadsheet program", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
        self.refused("line 3: a quoted field has no end", 'a,b\n1,2\n1,"2\n3,4\n')
        self.refused("line 2: text after the quotes of a field", 'a,b\n1,"2"3\n')
        self.refused("line 3: a zero byte", "a,b\n1,2\n1\0,2\n")
        self.refused("a separator is one letter", "a,b\n1,2\n", separator="::")
        self.refused("has two columns 'a'", "a,a\n1,2\n", "a")
        self.refused("line 2: a is 'E10', which is no number", "a,b\nE10,2\n", "a")
        self.refused("has no column 'c': it has a, b", "a,b\n1,2\n", "c")
        self.refused("line 4: a is 'old', which is no number; name the categories", 'a,b\n1,"x\ny"\nold,2\n', "a")
        self.refused("a has a value beyond 1e+15", "a,b\n1e16,1\n", "a")
        self.refused("is not text in ascii", "ä\n1\n", encoding="ascii")
        self.refused("is not text in klingon", "a\n1\n", encoding="klingon")
        with self.assertRaisesRegex(InputError, "No such file"):
            read(self.path.with_name("none.csv"))

    def test_preview(self):
        got = self.read(text(";", lambda number: number.replace(".", ",")).encode("latin-1"))
        self.assertEqual(got.preview(["age", "income"]).splitlines()[0].partition(": ")[2],
                         "windows-1252, separator semicolon, decimals after a comma, 3 columns, 3 rows")
        self.assertIn("  36,5 | 1234,25", got.preview(["age", "income"]))
        self.assertIn("  missing | -7", got.preview(["age", "income"]))

    def test_levels(self):
        got = self.read("g,n\nx,1\n y ,2.0\nNA,3\n")
        np.testing.assert_array_equal(got.codes("g", ["y", "x"]), [1, 0, np.nan])
        np.testing.assert_array_equal(got.codes("n", ["1", "2", 3]), [0, 1, 2])
        np.testing.assert_array_equal(got.codes("g", ["y", "x", "NA"]), [1, 0, 2])
        with self.assertRaisesRegex(InputError, "line 2: g is 'x', which is not among its levels y, z"):
            got.codes("g", ["y", "z"])
        with self.assertRaisesRegex(InputError, "at least two different"):
            got.codes("g", ["y", "y"])

    def test_data_of_another_kind(self):
        for column in ("abc", 5, None, np.zeros((3, 2)), np.float64(1)):
            with self.subTest(column), self.assertRaisesRegex(InputError, "^the data: x is no column: give a list, or an array of one dimension$"):
                columns_of({"x": column})
        for data in (5, None, [1.0], np.zeros(3)):
            with self.subTest(data), self.assertRaisesRegex(InputError, "path of a file, a DataFrame or a dict of columns, not a "):
                columns_of(data)
        for cell in (1j, np.complex128(1), np.complex64(1)):
            with self.subTest(cell), self.assertRaisesRegex(InputError, "row 2: x is .*, which is no number"):
                Columns({"x": [1.0, cell]}).numbers("x")
        np.testing.assert_array_equal(columns_of({"x": range(3)}).numbers("x"), [0, 1, 2])
        with self.assertRaisesRegex(InputError, "^the data: there are no rows$"):
            design("y ~ x", Columns({"x": [], "y": []}))

    @installed("pandas")
    def test_data_frame(self):
        import pandas
        frame = pandas.read_csv(io.StringIO("a,g\n1,x\n,y\n3,\n"))
        got = Columns({name: frame[name] for name in frame})
        np.testing.assert_array_equal(got.numbers("a"), [1, np.nan, 3])
        np.testing.assert_array_equal(got.codes("g", ["x", "y"]), [0, 1, np.nan])
        whole = frame.convert_dtypes()  # Int64 and string, whose missing values are pandas.NA
        whole["f"] = frame["a"].astype("Float64")
        got = Columns({name: whole[name] for name in whole})
        for name in "af":
            np.testing.assert_array_equal(got.numbers(name), [1, np.nan, 3])
        np.testing.assert_array_equal(got.codes("g", ["x", "y"]), [0, 1, np.nan])


class Formulas(unittest.TestCase):
    data = Columns({"y": [1.0, 2, 3, 4, np.nan], "age": [30.0, 40, np.nan, 60, 70], "sex": ["f", "m", "f", "m", "f"],
                    "g": [1, 2, 3, 1, 2], "a b": [5.0, 6, 7, 8, 9]})
    levels = {"sex": ["f", "m"], "g": [1, 2, 3]}

    def test_columns(self):
        d = design('y ~ age + sex + Q("a b")', self.data, self.levels)
        self.assertEqual(d.names, ["Intercept", "sex[T.m]", "age", 'Q("a b")'])
        self.assertEqual(d.X.tolist(), [[1, 0, 30, 5], [1, 1, 40, 6], [1, 1, 60, 8]])
        self.assertEqual((d.response.tolist(), d.dropped, d.indicator.tolist()), ([[1, 2, 4]], 2, [False, True, False, False]))
        self.assertEqual(design("y ~ 1", self.data).names, ["Intercept"])
        self.assertEqual(design("y ~ sex + g - 1", self.data, self.levels).names, ["sex[f]", "sex[m]", "g[T.2]", "g[T.3]"])

    @installed("patsy")
    def test_like_patsy(self):
        import patsy
        frame = {"y": np.arange(4), "age": np.array([30.0, 40, 50, 60]), "sex": np.array(list("fmmf"), dtype=object),
                 "g": np.array([1, 2, 3, 1]), "a b": np.array([5.0, 6, 7, 9])}
        for right in ("age + sex", "sex + age", "0 + age + sex", "age - 1", "age + C(g, levels=[1, 2, 3]) + sex", "-1 + sex + age",
                      'Q("a b") + C(sex, levels=["m", "f"])', "age + age", "age + 0 + 1"):
            expected = patsy.dmatrix(right, frame)
            got = design("y ~ " + right, Columns(frame), {"sex": ["f", "m"]})
            self.assertEqual([name.replace("'", '"') for name in got.names],
                             [name.replace("'", '"') for name in expected.design_info.column_names], right)
            np.testing.assert_array_equal(got.X, np.asarray(expected), right)

    @installed("patsy")
    def test_terms_of_patsy(self):
        d = design("y ~ sex:age + I(age ** 2)", self.data, self.levels)
        self.assertEqual(d.names, ["Intercept", "sex[f]:age", "sex[m]:age", "I(age ** 2)"])
        self.assertEqual(d.X[:, 3].tolist(), [900, 1600, 3600])
        self.assertFalse(d.indicator.any())
        for right, said in (("center(age) + sex", "depends on other rows"), ("age:C(age + 1)", "name the levels"),
                            ("age:zap", "'age:zap': "), ("log(age)", r"terms are Python, not R: np.log\(age\), "),
                            ("sex + np.log(age - 40)", r"row 1: 'sex \+ np.log\(age - 40\)' has a value that is not finite"),
                            ("sex + np.log(age - 30)", r"row 1: .* is not finite")):
            with self.assertRaisesRegex(InputError, said):
                design("y ~ " + right, self.data, self.levels)
        with self.assertRaisesRegex(InputError, "which is no number"):
            design("y ~ age:sex", self.data)

    def test_refused(self):
        for formula, said in (("y", "is no formula"), ("y ~ ", "is no formula"), ("y + x ~ age", "is no formula"), ("y ~ age + (", "bracket"),
                              ("y ~ C(sex)", "name the levels"), ("y ~ C(sex, levels=[f])", "a list of words"), ("y ~ zap", "no column 'zap'"),
                              ("y ~ .", "^'.': '.' does not stand for the other columns here: name them$"), ("y ~ age + . - g", "does not stand for"),
                              ("sex ~ age", "which is no number")):
            with self.assertRaisesRegex(InputError, said):
                design(formula, self.data)


class Special(unittest.TestCase):
    def near(self, got, expected):
        self.assertLess(abs(got - expected), 1e-10 * max(abs(expected), 1e-290), f"{got} {expected}")

    @installed("scipy")
    def test_against_scipy(self):
        from scipy.stats import chi2, f, norm, t
        for x in (-8.0, -1.3, 0.0, 0.4, 1.96, 5.0, 20.0):
            self.near(special.own_normal_sf(x), norm.sf(x))
            for dof in (1, 2.5, 7, 40, 1000, 1e5):
                self.near(special.own_t_sf(x, dof), t.sf(x, dof))
        for x in (1e-6, 0.3, 1.0, 4.0, 30.0, 400.0):
            for dof in (1, 2, 5, 30, 200):
                self.near(special.own_chi2_sf(x, dof), chi2.sf(x, dof))
                self.near(special.own_f_sf(x, dof, 9), f.sf(x, dof, 9))
                self.near(special.own_f_sf(x, 3, dof), f.sf(x, 3, dof))
        for upper in (0.4, 0.025, 0.005, 1e-8):
            self.near(special.normal_upper(upper), norm.isf(upper))
            for dof in (1, 4, 290, 1e5):
                self.near(t.sf(special.t_upper(upper, dof), dof), upper)

    def test_known_values(self):
        # by integration of the densities with 30 digits
        self.assertAlmostEqual(special.own_normal_sf(1.0), 0.158655253931457, 14)
        self.assertAlmostEqual(special.own_chi2_sf(3.841458820694124, 1), 0.05, 13)
        self.assertAlmostEqual(special.t_upper(0.025, 10), 2.228138851986274, 12)


if __name__ == "__main__":
    unittest.main()
