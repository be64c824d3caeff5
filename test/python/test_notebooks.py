# SPDX-License-Identifier: Apache-2.0
"""The notebooks of python/notebooks, cell by cell; each ends with assertions of its own."""
import glob
import json
import os
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = sorted(glob.glob(os.path.join(HERE, "..", "..", "python", "notebooks", "*.ipynb")))


class Notebooks(unittest.TestCase):
    def test_every_notebook_runs(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib")
        matplotlib.use("Agg")
        self.assertEqual(len(FILES), 4)
        for path in FILES:
            with open(path, encoding="utf-8") as file:
                cells = json.load(file)["cells"]
            names = {"__name__": "notebook", "print": lambda *words: [str(word) for word in words]}
            with self.subTest(os.path.basename(path)):
                code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
                self.assertIn("assert", code[-1])
                for number, text in enumerate(code):
                    exec(compile(text, f"{os.path.basename(path)}[{number}]", "exec"), names)
            import matplotlib.pyplot
            matplotlib.pyplot.close("all")

    def test_notebooks_hold_no_outputs(self):
        for path in FILES:
            with open(path, encoding="utf-8") as file:
                for cell in json.load(file)["cells"]:
                    self.assertFalse(cell.get("outputs"), path)


if __name__ == "__main__":
    unittest.main()
