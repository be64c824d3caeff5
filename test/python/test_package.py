# SPDX-License-Identifier: Apache-2.0
"""The package as others get it: the wheel, types, texts."""
import ast
import inspect
import os
import re
import subprocess
import sys
import tempfile
import unittest

import tribo

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def stub():
    with open(os.path.join(ROOT, "python", "tribo", "__init__.pyi")) as file:
        return ast.parse(file.read())


def members(node):
    found = set()
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            found.add(item.name)
        elif isinstance(item, ast.AnnAssign):
            found.add(item.target.id)
    return found


def public(thing):
    return {name for name in vars(thing) if not name.startswith("_")}


class Package(unittest.TestCase):
    def test_pip_installs_it_without_a_network(self):
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
            self.skipTest("no pip")
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--target", folder,
                                  "--config-settings", f"build-dir={os.path.join(ROOT, 'build')}", ROOT],
                                 capture_output=True, text=True, cwd=folder)
            self.assertEqual(run.returncode, 0, run.stderr)
            code = "import tribo; w = tribo.World(); w.step(); print(tribo.__file__, tribo.__version__)"
            out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/",
                                 env={**os.environ, "PYTHONPATH": folder})
            self.assertEqual(out.returncode, 0, out.stderr)
            path, version = out.stdout.split()
            self.assertTrue(path.startswith(folder), path)
            self.assertEqual(version, tribo.__version__)

    def test_metadata_is_there_before_the_wheel(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import backend\n"
                "backend._build = lambda folder: sys.exit('it was built')\n"
                "print(backend.prepare_metadata_for_build_wheel(sys.argv[2]))")
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([sys.executable, "-c", code, os.path.join(ROOT, "python"), folder], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(os.path.join(folder, run.stdout.strip(), "METADATA")) as file:
                self.assertIn(f"Name: tribo\nVersion: {tribo.__version__}\n", file.read())

    def test_versions_agree(self):
        with open(os.path.join(ROOT, "pyproject.toml")) as file:
            self.assertIn(f'version = "{tribo.__version__}"', file.read())

    def test_one_binary_serves_all_versions(self):
        from tribo import _native
        self.assertIn(".abi3.so", _native.__file__)
        out = subprocess.run(["nm", "-D", "--undefined-only", _native.__file__], capture_output=True, text=True).stdout
        names = set(re.findall(r" U (_?Py\w+)", out))
        self.assertTrue(names)
        self.assertLessEqual({n for n in names if n.startswith("_")}, {"_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct",
                                                                       "_Py_Dealloc", "_PyArg_ParseTuple_SizeT", "_PyArg_ParseTupleAndKeywords_SizeT",
                                                                       "_Py_BuildValue_SizeT", "_PyObject_New"})

    def test_it_works_without_numpy(self):
        code = ("import sys; sys.modules['numpy'] = None\nimport tribo\nw = tribo.World()\n"
                "b = w.add_body(tribo.sphere(1), position=(1, 2, 3))\nprint(b.position.tolist(), w.positions.shape)")
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(out.stdout.strip(), "[1.0, 2.0, 3.0] (1, 3)", out.stderr)


class Types(unittest.TestCase):
    def test_stubs_name_what_there_is(self):
        tree = stub()
        named = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        there = {name for name in public(tribo) if not inspect.ismodule(getattr(tribo, name))} | {"show"}
        self.assertEqual(named ^ there, set())
        for node in tree.body:
            if not isinstance(node, ast.ClassDef) or issubclass(getattr(tribo, node.name), Exception):
                continue
            thing = getattr(tribo, node.name)
            if node.name in ("Residual", "Report"):
                self.assertEqual([a.target.id for a in node.body], list(thing.__match_args__))
                continue
            have = public(thing) | (public(thing.__base__) if node.name == "World" else set())
            have |= set(getattr(thing, "_fields", ()))
            have |= {"world", "id"} if node.name in ("Body", "Joint", "Material") else set()
            said = {name for name in members(node) if not name.startswith("__")}
            self.assertEqual(said ^ have, set(), node.name)

    def test_stubs_have_the_parameters(self):
        for node in stub().body:
            if not isinstance(node, ast.ClassDef):
                continue
            for item in node.body:
                function = inspect.getattr_static(getattr(tribo, node.name), getattr(item, "name", ""), None)
                function = getattr(function, "__func__", function)
                if inspect.isfunction(function) and isinstance(item, ast.FunctionDef):
                    a = item.args
                    said = [x.arg for x in a.args + a.kwonlyargs] + [x.arg for x in (a.vararg, a.kwarg) if x]
                    self.assertEqual(said, list(inspect.signature(function).parameters), f"{node.name}.{item.name}")


class Texts(unittest.TestCase):
    def test_the_readme_runs(self):
        with open(os.path.join(ROOT, "README.md")) as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.S | re.M)
        self.assertTrue(blocks)
        for block in blocks:
            out = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=ROOT)
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertIn("converged", out.stdout)

    def test_help_teaches(self):
        self.assertIn("before_step", tribo.World.__doc__)
        self.assertIn("from_delassus", tribo.Problem.__doc__)
        silent = []
        for name in public(tribo):
            thing = getattr(tribo, name)
            if not inspect.ismodule(thing) and not inspect.getdoc(thing):
                silent.append(name)
        self.assertEqual(silent, [])


if __name__ == "__main__":
    unittest.main()
