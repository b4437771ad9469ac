"""`starling stats` with real daemons: command_stats.py STARLING

The data are those of test_stats.py, dealt out to five sites; the references are pooled results of test_stats.py's libraries, or
of numpy where these are missing."""
import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "tools" / "python"
sys.path[:0] = [str(HERE), str(PACKAGE)]
try:
    import numpy as np
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)

from fake_sites import pooled  # noqa: E402
from starling import stats  # noqa: E402
from test_stats import ALL, COMPLETE, LEVELS, PARTS, worst  # noqa: E402

STARLING = str(Path(sys.argv.pop(1)).resolve())
RELATIVE = 1e-6

# Two questions in one run, then one of another site.
SCRIPT = """
import os, sys
from starling import Error, stats
me = int(os.environ["STARLING_LEARNER"])
data = {"x": [1.0 * me, 2.5, -3.0 * me], "g": ["a", "b", "b"]}
with stats.Sums() as sums:
    print("mean", *stats.describe(sums, ["x"], data)["mean"])
with stats.Sums() as sums:
    print("counts", *stats.crosstab(sums, ["g"], data, {"g": ["a", "b"]}, threshold=1)["counts"].ravel())
    try:
        stats.describe(sums, ["x"] if me > 1 else ["x", "x"], data)
    except Error as failure:
        print(failure)
    try:
        while True:
            sums.agree("until the end")
    except Error as failure:
        print(failure)
"""


class Command(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.files = []
        for place, part in enumerate(PARTS):
            part = {**part, "score": 2 * part["died"] + 1}
            cls.files.append(f"site-{place + 1}.csv")
            with open(Path(cls.folder.name, cls.files[-1]), "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(part)
                writer.writerows(["NA" if value != value else value for value in row] for row in zip(*part.values()))

    def run_it(self, *arguments, status=0, **environment):
        done = subprocess.run([STARLING, *arguments], cwd=self.folder.name, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={"PATH": os.path.dirname(sys.executable) + ":" + os.environ["PATH"], "TMPDIR": self.folder.name, **environment})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def local(self, *arguments):
        done = self.run_it("stats", *arguments, "--json", "--local", *self.files)
        self.assertEqual(re.sub(r"site-\d.csv: \d+ rows are used, \d have a missing value\n", "", done.stderr), "")
        self.assertEqual(sorted(os.listdir(self.folder.name)), sorted(self.files))
        return json.loads(done.stdout)

    def same(self, what, got, expected):
        difference = worst(got, expected)
        print(f"{what}: relative difference {difference:.1e}", file=sys.stderr)
        self.assertLess(difference, RELATIVE)

    def refused(self, text, *arguments, status=2):
        done = self.run_it("stats", *arguments, status=status)
        self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        self.assertIn(text, done.stderr)

    def test_summaries(self):
        got = self.local("describe", "age,bmi")
        self.assertEqual((got["sites"], got["table"]["count"]), (5, [293, 300]))
        self.same("mean", got["table"]["mean"], [np.nanmean(ALL["age"]), ALL["bmi"].mean()])
        self.same("variance", got["table"]["variance"], [np.nanvar(ALL["age"], ddof=1), ALL["bmi"].var(ddof=1)])
        got = self.local("quantile", "bmi", "--resolution", "0.25")
        self.same("quantiles", got["table"]["value"], np.quantile(np.rint(ALL["bmi"] * 4) / 4, (0.25, 0.5, 0.75)))
        got = self.local("crosstab", "sex,grade", "--levels", "sex=f,m", "--levels", "grade=1,2,3")
        self.assertEqual(got["counts"], [[int(((ALL["sex"] == a) & (ALL["grade"] == b)).sum()) for b in (1, 2, 3)] for a in "fm"])
        names = ("age", "bmi", "visits", "years")
        got = self.local("pca", ",".join(names))
        self.same("PCA", got["table"]["variance"], np.linalg.eigvalsh(np.corrcoef([COMPLETE[name] for name in names]))[::-1])
        got = self.local("corr", ",".join(names))
        self.same("correlation", got["matrix"], np.corrcoef([COMPLETE[name] for name in names]))

    def compare(self, what, analyse, *arguments):
        """Compare with the sites in this process, which test_stats.py compares with statsmodels and scipy."""
        expected, got = pooled(analyse, PARTS).as_dict(), self.local(*arguments)
        table, facts = expected.pop("table"), [name for name, value in expected.items() if isinstance(value, float)]
        for name, values in table.items():
            if isinstance(values[0], str):
                self.assertEqual(got["table"][name], values)
            else:
                self.same(f"{what}, {name}", got["table"][name], values)
        self.same(f"{what}, {', '.join(facts)}", [got[name] for name in facts], [expected[name] for name in facts])

    def test_tests(self):
        sex, smoker = ("--levels", "sex=f,m"), ("--levels", "smoker=no,yes")
        self.compare("t-test", lambda s, part: stats.ttest(s, "age ~ sex", part, LEVELS), "ttest", "age ~ sex", *sex)
        self.compare("chi-squared", lambda s, part: stats.chi2(s, ("sex", "smoker"), part, LEVELS), "chi2", "sex,smoker", *sex, *smoker)

    def test_regressions(self):
        for outcome, family in (("years", "gaussian"), ("died", "binomial"), ("visits", "poisson")):
            self.compare(family, lambda s, part: stats.glm(s, outcome + " ~ age + sex + bmi", part, family, LEVELS),
                         "glm", outcome + " ~ age + sex + bmi", "--family", family, "--levels", "sex=f,m")

    def test_survival(self):
        sex = ("--levels", "sex=f,m")
        self.compare("Kaplan-Meier", lambda s, part: stats.kaplan_meier(s, "Surv(time, event) ~ sex", part, levels=LEVELS),
                     "km", "Surv(time, event) ~ sex", *sex)
        self.compare("log-rank", lambda s, part: stats.logrank(s, "Surv(time, event) ~ sex", part, LEVELS, until=50),
                     "logrank", "Surv(time, event) ~ sex", *sex, "--until", "50")
        self.compare("Cox", lambda s, part: stats.cox(s, "Surv(time, event) ~ age + sex + bmi", part, until=50, levels=LEVELS),
                     "cox", "Surv(time, event) ~ age + sex + bmi", *sex, "--until", "50")

    def test_noise(self):
        little = ("--epsilon", "900", "--delta", "0.001")
        got = self.local("describe", "bmi", *little, "--range", "bmi=10,60")
        values = np.clip(ALL["bmi"], 10, 60)
        self.assertLess(abs(got["table"]["mean"][0] - values.mean()), 5 * got["table"]["of it noise"][0])
        self.assertGreater(got["table"]["std err"][0], np.sqrt(values.var() / values.size) * 0.9)
        self.assertTrue(0 < got["epsilon"] <= 900 and got["sites"] == 5)
        got = self.local("crosstab", "sex", *little, "--levels", "sex=f,m")
        for level, count in zip("fm", got["counts"]):
            self.assertLess(abs(count[0] - (ALL["sex"] == level).sum()), 5 * got["std err of a count"])
        done = self.run_it("launch", "-n", "3", "--rounds", "5", "--run-dir", "run", "--set", "dp=record", "--set", "dp_clip=1", "--set", "dp_epsilon=4",
                           "--set", "dp_delta=0.0001", "--", "sh", "-c", f'"{STARLING}" stats glm "years ~ age" site-$STARLING_LEARNER.csv 2>&1', status=1)
        shutil.rmtree(Path(self.folder.name, "run"))
        self.assertIn("this learner adds noise (dp: record), and this analysis needs exact sums. Nothing was shared", done.stdout)  # of the first, at least

    def test_a_table(self):
        done = self.run_it("stats", "glm", "died ~ age", "--family", "binomial", "--local", *self.files)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "Logistic regression of died ~ age")
        self.assertEqual(lines[3].split(), ["term", "coef", "odds", "ratio", "std", "err", "z", "p", "low", "high"])
        self.assertIn("--local A.csv B.csv C.csv", self.run_it("stats", "--help").stdout)

    def test_an_outcome_of_two_values(self):
        self.refused("site-1.csv: died has two values: give --family binomial (logistic regression) or --family gaussian (linear)",
                     "glm", "died ~ age", "--local", *self.files)
        with tempfile.TemporaryDirectory() as folder:
            names = [str(Path(folder, f"{place}.csv")) for place in range(len(self.files))]
            for name, file, unknown in zip(names, self.files, ("k.A.", "-99", "NA", "unknown", "")):
                lines = [line.split(",") for line in Path(self.folder.name, file).read_text().splitlines()]
                died = lines[0].index("died")
                Path(name).write_text("\n".join(";".join(
                    {"0.0": "no", "1.0": "yes"}.get(cell, cell) if place == died else unknown if cell == "NA" else cell.replace(".", ",")
                    for place, cell in enumerate(line)) for line in lines))
            words = ("glm", "died ~ age", "--levels", "died=no,yes", "--missing", "k.A.,-99,unknown")
            self.refused("0.csv: died has two values: give --family binomial", *words, "--local", *names)
            got = json.loads(self.run_it("stats", *words, "--family", "binomial", "--json", "--local", *names).stdout)
        whole = self.local("glm", "died ~ age", "--family", "binomial")
        self.assertEqual((got["table"], got["dropped"]), (whole["table"], whole["dropped"]))
        self.assertEqual(got["table"]["odds ratio"], np.exp(got["table"]["coef"]).tolist())

    def test_two_questions_in_one_run(self):
        Path(self.folder.name, "two.py").write_text(SCRIPT)
        done = self.run_it("launch", "-n", "3", "--rounds", "9", "--run-dir", "run", "--set", "quorum=all", "--", sys.executable, "two.py",
                           PYTHONPATH=str(PACKAGE))
        for said in (f"mean {np.mean([1, 2, 3, -3, -6, -9, 2.5, 2.5, 2.5])}", "counts 3 6",
                     "the sites do not ask the same question: nothing was shared", "the run is over: all of its 9 rounds are used"):
            self.assertEqual(done.stdout.count(said), 3, said + "\n" + done.stdout)
        Path(self.folder.name, "two.py").unlink()
        shutil.rmtree(Path(self.folder.name, "run"))

    def test_a_site_with_its_own_learner(self):
        # describe takes five rounds: the question, the rows, counts, sums, squares
        done = self.run_it("launch", "-n", "3", "--rounds", "5", "--run-dir", "run", "--set", "quorum=all", "--", "sh", "-c",
                           f'exec "{STARLING}" stats describe bmi "site-$STARLING_LEARNER.csv"')
        shutil.rmtree(Path(self.folder.name, "run"))
        rows = np.concatenate([part["bmi"] for part in PARTS[:3]])
        self.assertEqual(done.stdout.count("Summary"), 3)
        shown = [line.split()[-3:] for line in done.stdout.splitlines() if ": bmi " in line]
        self.assertEqual(shown, [[f"{value:.4f}" for value in (rows.mean(), rows.var(ddof=1), rows.std(ddof=1))]] * 3)

    def test_files_of_other_dialects(self):
        with tempfile.TemporaryDirectory() as folder:
            example = subprocess.run([sys.executable, str(PACKAGE / "examples" / "stats_five_sites.py"), folder], capture_output=True,
                                     text=True, check=True)
            command = shlex.split(example.stdout.splitlines()[-2])
            self.assertEqual(command[:3], ["starling", "stats", "glm"])
            done = self.run_it(*command[1:])
        self.assertIn("sites 5, rows 463, dropped 9, ", done.stdout)
        self.assertIn("lyon.csv: 196 rows are used, 4 have a missing value", done.stderr)

    def test_one_clear_line(self):
        first, *_ = self.files
        self.refused("site-1.csv has no column 'size': it has age, sex", "describe", "size", first)
        self.refused("site-1.csv, line 2: sex is 'f', which is no number", "glm", "died ~ sex", first)
        self.refused("no learner is named", "describe", "age", first)
        self.refused("--local needs at least 3 files", "describe", "age", "--local", *self.files[:2])
        self.refused("unexpected file site-2.csv", "describe", "age", *self.files[:2])
        self.refused("invalid choice: 'anova'", "anova", "age", first)
        self.refused("'sex' is not of the form sex=f,m", "chi2", "sex,smoker", first, "--levels", "sex")
        self.refused("give the resolution", "quantile", "age", first)
        for said, *arguments in (("name at least one column", "describe", ","), ("site-1.csv is not text in punycode", "describe", "age", "--encoding", "punycode"),
                                 ("give the range of age", "describe", "age", "--epsilon", "1", "--delta", "0.1", "--range", "age=-1e308,1e308"),
                                 *(("the levels are a list", "glm", f"died ~ C(sex, levels={one})") for one in ("(5)", "('fm')", "[f]")),
                                 ("the resolution of age is a number above 0", "quantile", "age", "--resolution", "inf"),
                                 ("the resolution of time is a number above 0", "km", "Surv(time, event) ~ 1", "--resolution", "0"),
                                 ("rows are followed until a time from 0, not nan", "km", "Surv(time, event) ~ 1", "--until", "nan"),
                                 ("rows are followed until a time from 0, not -1", "km", "Surv(time, event) ~ 1", "--until", "-1")):
            self.refused(said, *arguments, first)
        self.refused("none.csv: No such file or directory", "describe", "age", "none.csv")
        self.refused("(perfect or quasi-complete separation)", "glm", "died ~ score", "--family",
                     "binomial", "--local", *self.files, status=1)
        self.refused("a count is below 200", "crosstab", "sex", "--levels", "sex=f,m", "--small", "200", "--local", *self.files, status=1)
        done = self.run_it("stats", "describe", "age,sex", first, "--dry-run", status=2)
        self.assertIn("site-1.csv: utf-8, separator comma, decimals after a point, 11 columns, 12 rows\n  age | sex\n  missing | f\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
