# SPDX-License-Identifier: Apache-2.0
"""Workspaces from Python: the bits of fresh solves, values that are refused, threads."""
import os
import threading
import unittest

import numpy as np
import tribo

from test_hostile import BAD_VECTORS


def wall():
    return tribo.Problem.generate("wall", size=3)


def like(p, bias=None, v_free=None, params=None, compliance=None):
    """A fresh problem with other values."""
    return tribo.Problem.from_metric(p.A, p.J, p.bias if bias is None else bias, p.params if params is None else params,
                                     p.v_free if v_free is None else v_free, compliance=compliance)


class Workspaces(unittest.TestCase):
    def test_solves_have_the_bits_of_fresh_ones(self):
        p = wall()
        p = like(p)  # as arrays make it
        for solver in ("bgs", "nncg", "newton-fb", "ipm", "auto"):
            space = p.workspace()
            for k in range(4):
                new = {"v_free": p.v_free * (1 + 0.1 * k), "bias": p.bias + 0.01 * k, "params": p.params * (1 - 0.1 * k)}
                space.update(**new)
                a = space.solve(solver, start="cold", iterations=60)
                b = like(p, **new).solve(solver, start="cold", iterations=60)
                with self.subTest(solver=solver, k=k):
                    np.testing.assert_array_equal(a.impulses, b.impulses)
                    self.assertEqual((a.outcome, a.iterations, a.residual), (b.outcome, b.iterations, b.residual))

    def test_all_values_of_another_problem(self):
        p, heavy = like(wall()), tribo.Problem.generate("wall", size=3, mass_ratio=10.0)
        space = p.workspace()
        space.solve("bgs")
        other = tribo.Problem.from_metric(heavy.A, heavy.J, heavy.bias, heavy.params, heavy.v_free)
        space.update_like(other)
        np.testing.assert_array_equal(space.solve("bgs", start="cold").impulses, other.solve("bgs", start="cold").impulses)
        before = space.solve("bgs", start="cold").impulses
        self.assertRaises(ValueError, space.update_like, tribo.Problem.generate("wall", size=2))
        self.assertRaises(TypeError, space.update_like, heavy.W)
        np.testing.assert_array_equal(space.solve("bgs", start="cold").impulses, before)

    def test_solves_start_from_the_last(self):
        space = wall().workspace()
        first = space.solve("bgs", tolerance=1e-8)
        again = space.solve("bgs", tolerance=1e-8)
        self.assertLess(again.iterations, first.iterations)
        self.assertEqual(space.solve("bgs", tolerance=1e-8, start="cold").iterations, first.iterations)

    def test_the_problem_may_go_and_stays_as_it_was(self):
        p = wall()
        bias = np.array(p.bias)
        space = p.workspace()
        space.update(bias=bias + 1)
        np.testing.assert_array_equal(p.bias, bias)
        del p
        self.assertTrue(space.solve("bgs", tolerance=1e-6).converged)
        self.assertEqual((space.rows, repr(space)), (len(bias), f"<tribo.Workspace: {space.rows} rows, {space.dofs} dofs>"))

    def test_given_W(self):
        p = tribo.Problem.from_delassus(np.eye(3), [-1, -1, -1], law="nonneg", rows=1)
        space = p.workspace()
        space.update(bias=[-1, -2, 3])
        np.testing.assert_allclose(space.solve("bgs", tolerance=1e-12).impulses, [1, 2, 0], atol=1e-9)

    def test_bad_values_are_refused_and_change_nothing(self):
        p = wall()
        space = p.workspace()
        before = space.solve("bgs", start="cold").impulses
        bad = [b for b in BAD_VECTORS if b is not None] + [np.full(p.rows, np.nan), np.zeros(p.rows + 1), np.zeros((p.rows, 1))]
        for value in bad:
            for name in ("bias", "v_free", "params", "compliance"):
                with self.subTest(name=name, bad=repr(value)[:40]):
                    self.assertRaises((TypeError, ValueError, OverflowError), space.update, **{name: value})
            self.assertRaises((TypeError, ValueError, OverflowError), space.solve, "bgs", start=value)
        self.assertRaises(ValueError, space.update, bias=p.bias * 2, params=p.params - 10)  # a negative friction
        self.assertRaises(ValueError, space.update, compliance=np.full(p.rows, -1.0))
        self.assertRaises(TypeError, space.update, W=p.W)
        self.assertRaises(TypeError, tribo.Workspace, p.W)
        self.assertRaises(TypeError, tribo.Workspace, None)
        self.assertRaises(ValueError, space.solve, "magic")
        np.testing.assert_array_equal(space.solve("bgs", start="cold").impulses, before)

    def test_one_thread_at_a_time(self):
        space = tribo.Problem.generate("pile", size=40).workspace()
        errors, done = [], []

        def work():
            for _ in range(5):
                try:
                    done.append(space.solve("bgs", start="cold", iterations=200).impulses)
                except RuntimeError as error:
                    errors.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertTrue(done and all(e == "the workspace is in use by another thread" for e in errors))
        for impulses in done:
            np.testing.assert_array_equal(impulses, done[0])

    def test_arrays_that_reach_for_the_workspace_while_they_are_read(self):
        p = wall()
        space = p.workspace()

        class Sly:
            def __len__(self):
                return p.rows

            def __getitem__(self, i):
                if i >= p.rows:
                    raise IndexError
                space.update(bias=p.bias)
                space.solve("bgs", iterations=1)
                return 0.0

        try:
            space.update(bias=Sly())
        except (TypeError, ValueError, RuntimeError):
            pass
        self.assertTrue(space.solve("bgs", tolerance=1e-6, start="cold").converged)


class Filters(unittest.TestCase):
    def drop(self, **filters):
        w = tribo.World()
        w.add_body(tribo.plane(), motion="fixed", name="ground")
        solid = tribo.solid_box((0.1, 0.1, 0.1), (1, 1, 1))
        bodies = [w.add_soft(solid, (0, 0, 0.06), **filters), w.add_cloth(((0.2, 0.2), (2, 2)), (1, 0, 0.01), **filters)]
        w.set(scheme="implicit", dt=0.01)
        w.step(40)
        return [b.position[2] for b in bodies]

    def test_filters_of_soft_bodies_and_cloth(self):
        self.assertTrue(min(self.drop()) > -0.02)
        self.assertTrue(max(self.drop(category=2, mask=2)) < -0.3)

    def test_bits_beyond_32_are_refused(self):
        w = tribo.World()
        box = w.add_body(tribo.box((1, 1, 1)))
        solid = tribo.solid_box((0.1, 0.1, 0.1), (1, 1, 1))
        for bad in (-1, 1 << 32, 1 << 70, "a", 1.5, None):
            for use in (lambda: w.add_body(tribo.sphere(1), category=bad), lambda: w.add_body(tribo.sphere(1), mask=bad),
                        lambda: w.add_soft(solid, category=bad), lambda: w.add_soft(solid, mask=bad),
                        lambda: w.add_reduced(solid, 1, category=bad), lambda: w.add_cloth(((1, 1), (1, 1)), mask=bad),
                        lambda: box.set_filter(bad), lambda: box.set_filter(1, bad)):
                with self.subTest(bad=bad):
                    self.assertRaises((TypeError, ValueError, OverflowError), use)
        self.assertEqual(len(w.bodies), 1)


class Values(unittest.TestCase):
    def test_values_in_the_place_of_the_files(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "papers", "macklin", "three.json")
        w = tribo.World.load(path, values={"bodies.top.mass": 3, "bodies.top.position": np.array([0, 0, 0.75])}, dt=0.001)
        self.assertEqual((w["top"].mass, w["lowest"].mass, w.dt), (3.0, 1.0, 0.001))
        np.testing.assert_allclose(w["top"].position, [0, 0, 0.75])
        for bad in ({"bodies.nobody.mass": 3}, {"bodies.top.mass": -1}, {"bodies.top.mass": float("nan")}, {"": 1},
                    {"bodies.top": "a\ud800"}, {"bodies": [1]}, {"bodies.top.mass": None}):
            with self.subTest(bad=bad):
                self.assertRaises((ValueError, TypeError), tribo.World.load, path, values=bad)
        self.assertRaises(ValueError, tribo.World.load, "stack", values={"bodies.0.mass": 1})
