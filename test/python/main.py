# SPDX-License-Identifier: Apache-2.0
"""Runs test_*.py, or those whose names contain a word, and ends with the line `N passed, N failed`."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


sys.path.insert(0, HERE)
tests = list(each(unittest.defaultTestLoader.discover(HERE)))
words = sys.argv[1:]
chosen = unittest.TestSuite(t for t in tests if not words or any(word in t.id() for word in words))
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(chosen)
bad = len(result.failures) + len(result.errors)
passed = result.testsRun - bad - len(result.skipped)
print(f"{passed} passed, {bad} failed" + (f", {len(result.skipped)} skipped" if result.skipped else ""))
sys.exit(bad > 0)
