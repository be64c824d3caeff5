# SPDX-License-Identifier: Apache-2.0
"""Gradients of runs and searches with them."""
import unittest

import numpy as np
import tribo

THROW = {
    "tribo": 1, "dt": 0.01, "time": 0.3,
    "materials": {"rubber": {"friction": 0.2, "restitution": 0.7}},
    "bodies": [
        {"name": "ground", "fixed": True, "material": "rubber", "shape": {"type": "plane"}},
        {"name": "ball", "mass": 0.5, "material": "rubber", "position": [0, 0, 0.3], "velocity": [2, 0, -2],
         "shape": {"type": "sphere", "radius": 0.1}}]}
POINT = (0.5, 0.1, 0.3)


class Gradients(unittest.TestCase):
    def test_gradients_are_those_of_differences(self):
        wrt = ["ball.velocity", "rubber.restitution"]
        loss, gradient, facts = tribo.gradient(THROW, ("ball", POINT), wrt)
        _, backward, _ = tribo.gradient(THROW, ("ball", POINT), wrt, method="adjoint")
        same, differences, _ = tribo.gradient(THROW, ("ball", POINT), wrt, method="differences")
        self.assertAlmostEqual(loss, same, 12)
        self.assertEqual(facts["method"], "tangent")
        self.assertIsInstance(gradient["rubber.restitution"], float)
        for name in wrt:
            np.testing.assert_allclose(gradient[name], differences[name], rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(gradient[name], backward[name], rtol=1e-6, atol=1e-7)

    def test_a_search_hits_and_gives_the_scene(self):
        distance, values, scene = tribo.optimize(THROW, ("ball", POINT), "ball.velocity")
        self.assertLess(distance, 1e-3)
        self.assertEqual(list(values["ball.velocity"]), scene["bodies"][1]["velocity"])
        _, values, _ = tribo.optimize(THROW, ("ball", POINT), "ball.velocity", bounds={"ball.velocity": (-3, 1)}, iterations=3)
        self.assertLessEqual(max(values["ball.velocity"]), 1)

    def test_what_is_wrong_is_an_exception(self):
        with self.assertRaisesRegex(tribo.InputError, 'did you mean "velocity"'):
            tribo.gradient(THROW, ("ball", POINT), "ball.velocty")
        with self.assertRaises(tribo.ArgumentError):
            tribo.gradient(THROW, ("bal", POINT), "ball.velocity")
        with self.assertRaises(tribo.ArgumentError):
            tribo.gradient(THROW, ("ball", POINT), "ball.velocity", method="magic")


if __name__ == "__main__":
    unittest.main()
