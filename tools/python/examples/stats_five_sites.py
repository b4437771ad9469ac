"""Write the files of five hospitals, drawn at random, to try `starling stats` with:

    python3 tools/python/examples/stats_five_sites.py FOLDER

Each file is written in another way: separator, decimals, encoding, words for missing values.
"""
import csv
import sys
from pathlib import Path

import numpy as np

# rows, separator, decimals, encoding, missing value
SITES = {"berlin": (120, ";", ",", "latin-1", ""), "boston": (80, ",", ".", "utf-8", "NA"), "leuven": (60, "\t", ",", "utf-16", "."),
         "lyon": (200, ";", ",", "utf-8-sig", "null"), "visby": (12, ",", ".", "utf-8", "NA")}

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(exist_ok=True)
random = np.random.default_rng(1)
for name, (rows, separator, point, encoding, missing) in SITES.items():
    with open(folder / f"{name}.csv", "w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["age", "sex", "arm", "bmi", "days", "died"])
        for _ in range(rows):
            age, sex, arm = random.normal(62, 11), random.choice(["f", "m"]), random.choice(["drug", "placebo"])
            bmi = random.normal(26, 4)
            days = random.exponential(900 * np.exp(-0.03 * (age - 62) + 0.5 * (arm == "drug")))
            numbers = [missing if random.uniform() < 0.02 else f"{value:.1f}".replace(".", point) for value in (age, bmi)]
            writer.writerow([numbers[0], sex, arm, numbers[1], int(min(days, 1000)), int(days < 1000)])

files = " ".join(str(folder / f"{name}.csv") for name in SITES)
print("Now try:\n",
      f"starling stats describe age,bmi --local {files}",
      f"starling stats glm 'died ~ age + arm + sex' --family binomial --levels arm=placebo,drug --levels sex=f,m --local {files}",
      f"starling stats cox 'Surv(days, died) ~ age + arm' --levels arm=placebo,drug --resolution 30 --local {files}", sep="\n")
