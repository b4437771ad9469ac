"""Run the tests of the Python package: run.py [STARLING]. Status 77 where numpy is missing; without STARLING no daemons run."""
import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools" / "python")]
try:
    import numpy  # noqa: F401
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)
if len(sys.argv) > 1:
    os.environ["STARLING_PROGRAM"] = os.path.abspath(sys.argv[1])
result = unittest.TextTestRunner().run(unittest.defaultTestLoader.discover(str(HERE)))
for case, reason in result.skipped:
    print(f"[  SKIPPED ] {case.id()}: {reason}")  # as tools/test reads it
sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
