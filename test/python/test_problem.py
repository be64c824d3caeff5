# SPDX-License-Identifier: Apache-2.0
"""Contact problems from Python: arrays in and out, solving, the judge."""
import glob
import os
import tempfile
import unittest

import numpy as np
import tribo

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")


class Making(unittest.TestCase):
    def setUp(self):
        self.problem = tribo.Problem.generate("wall", size=3)

    def test_from_arrays_is_the_same_problem(self):
        p = self.problem
        metric = tribo.Problem.from_metric(p.A, p.J, p.bias, p.params, p.v_free)
        local = tribo.Problem.from_delassus(p.W, p.q, p.params)
        np.testing.assert_allclose(metric.W, p.W, atol=1e-14)
        np.testing.assert_allclose(local.W, p.W, atol=1e-14)
        np.testing.assert_allclose(metric.q, p.q, atol=1e-14)
        impulses = p.solve("bgs", tolerance=1e-10).impulses
        for other in (metric, local):
            self.assertLess(other.judge(impulses).fclib, 1e-9)
            self.assertEqual(other.contacts, p.contacts)

    def test_equations_hold(self):
        p = self.problem
        s = p.solve(tolerance=1e-10)
        np.testing.assert_allclose(p.contact_velocities(s.impulses), p.W @ s.impulses + p.q, atol=1e-12)
        v = p.velocities(s.impulses)
        np.testing.assert_allclose(p.A @ v, p.A @ p.v_free + p.J.T @ s.impulses, atol=1e-9)
        np.testing.assert_allclose(p.W, p.J @ np.linalg.solve(p.A, p.J.T), atol=1e-12)

    def test_from_scipy_is_the_same_problem(self):
        try:
            import scipy.sparse as sparse
        except ImportError:
            self.skipTest("no scipy")
        p = self.problem
        np.testing.assert_allclose(p.W_sparse.toarray(), p.W)
        np.testing.assert_allclose(p.J_sparse.toarray(), p.J)
        np.testing.assert_allclose(p.A_sparse.toarray(), p.A)
        for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
            other = tribo.Problem.from_delassus(form(p.W), p.q, p.params)
            np.testing.assert_allclose(other.W, p.W, atol=1e-14)
        other = tribo.Problem.from_metric(sparse.csr_array(p.A), sparse.csc_array(p.J), p.bias, p.params, p.v_free)
        np.testing.assert_allclose(other.W, p.W, atol=1e-12)

    def test_other_laws(self):
        p = tribo.Problem.from_delassus(np.eye(3), [-1, -1, -1], law="nonneg", rows=1)
        np.testing.assert_allclose(p.solve(tolerance=1e-12).impulses, 1, atol=1e-9)
        p = tribo.Problem.from_delassus(np.eye(2), [-1, -1], law=["box", "free"], rows=[1, 1], params=[(0, 0.25), ()])
        np.testing.assert_allclose(p.solve(tolerance=1e-12).impulses, [0.25, 1], atol=1e-9)
        p = tribo.Problem.from_delassus(np.eye(2), [-1, -3], mu=[0.5])  # in the plane
        np.testing.assert_allclose(p.solve(tolerance=1e-12).impulses, [1, 0.5], atol=1e-8)

    def test_files_come_back(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("p.json", "p.hdf5"):
                path = os.path.join(folder, name)
                try:
                    self.problem.save(path)
                except tribo.UnsupportedError:
                    continue  # built without HDF5
                np.testing.assert_allclose(tribo.Problem.load(path).W, self.problem.W, atol=1e-13)

    def test_fclib_files_are_solved(self):
        files = sorted(glob.glob(os.path.join(ROOT, "..", "shared", "fclib", "**", "*.hdf5"), recursive=True), key=os.path.getsize)
        if not files:
            self.skipTest("no ../shared/fclib")
        solution = tribo.Problem.load(files[0]).solve(tolerance=1e-6, iterations=2000, time_budget=2.0)
        self.assertTrue(np.isfinite(solution.residual.fclib))

    def test_a_frozen_step_is_the_step(self):
        world = tribo.World.gallery("arch")
        world.step(3)
        problem = world.problem()
        solution = problem.solve(velocity_tolerance=1e-6, tolerance=0.0)
        self.assertTrue(solution.converged)
        report = world.step()
        self.assertEqual(problem.contacts, report.contacts)


class Solving(unittest.TestCase):
    def test_a_manufactured_answer_is_exact(self):
        p = tribo.Problem.manufacture(contacts=15, seed=4)
        self.assertLess(p.judge(p.guess).fclib, 1e-12)
        parts = p.judge_contacts(np.zeros(p.rows))
        self.assertAlmostEqual(np.sqrt((parts ** 2).sum()), p.judge(np.zeros(p.rows)).fclib, places=12)
        s = p.solve("bgs", start="cold", tolerance=1e-9)
        self.assertTrue(s.converged)
        self.assertEqual(s.residual, p.judge(s.impulses))

    def test_a_trace_ends_at_the_result(self):
        p = tribo.Problem.generate("arch", size=9)
        s = p.solve("pgs", start="cold", iterations=50, trace=True, model="box")
        self.assertGreaterEqual(len(s.trace), 2)
        self.assertEqual(s.trace.shape[1], 4)
        self.assertTrue((np.diff(s.trace[:, 0]) > 0).all())
        self.assertGreaterEqual(s.trace[0, 2], s.trace[:, 2].min())

    def test_compare_has_a_row_per_solver(self):
        p = tribo.Problem.generate("stack", size=3)
        rows = p.compare(tolerance=1e-6, iterations=500)
        self.assertEqual([r["solver"] for r in rows], list(tribo.solvers()))
        for row in rows:
            if row["outcome"] == "converged":
                self.assertLessEqual(row["residual"], 1e-6)
            if row["outcome"] == "refused":
                self.assertTrue(row["refused"])
        self.assertIn("converged", {r["outcome"] for r in rows})

    def test_budgets_and_threads(self):
        p = tribo.Problem.generate("wall", size=4)
        few = p.solve("pgs", iterations=2, tolerance=1e-14, start="cold", model="box")
        self.assertEqual((few.outcome, few.iterations), ("max_iterations", 2))
        one, two = (p.solve("bgs", start="cold", order="colour", threads=n, iterations=30) for n in (1, 2))
        np.testing.assert_array_equal(one.impulses, two.impulses)

    def test_views_are_read_only_and_keep_the_problem(self):
        p = tribo.Problem.generate("stack", size=2)
        bias = p.bias
        self.assertFalse(bias.flags.writeable)
        self.assertRaises(ValueError, bias.__setitem__, 0, 1.0)
        copy = bias.copy()
        del p
        import gc
        gc.collect()
        [tribo.Problem.generate("stack", size=2) for _ in range(5)]
        np.testing.assert_array_equal(bias, copy)


if __name__ == "__main__":
    unittest.main()
