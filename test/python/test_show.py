# SPDX-License-Identifier: Apache-2.0
"""Plots and the page in a notebook."""
import base64
import gzip
import os
import re
import tempfile
import unittest

import numpy as np
import tribo


class Plots(unittest.TestCase):
    def setUp(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib")
        matplotlib.use("Agg")

    def test_curves_hold_what_they_are_given(self):
        p = tribo.Problem.generate("stack", size=3)
        solutions = {name: p.solve(name, start="cold", trace=True, iterations=100) for name in ("bgs", "nncg")}
        axes = tribo.plot.convergence(solutions)
        self.assertEqual([line.get_label() for line in axes.lines], ["bgs", "nncg"])
        np.testing.assert_array_equal(axes.lines[0].get_xdata(), solutions["bgs"].trace[:, 0])
        self.assertRaises(ValueError, tribo.plot.convergence, {"bgs": p.solve("bgs")})
        points = tribo.plot.cones(p, solutions["bgs"].impulses).collections[0].get_offsets()
        self.assertGreater(len(points), 0)
        self.assertTrue((np.linalg.norm(points, axis=1) < 1 + 1e-6).all())

    def test_energy_adds_up(self):
        world = tribo.World()
        world.add_body(tribo.sphere(1), position=(0, 0, 1))
        history = world.run(steps=10)
        axes = tribo.plot.energy(history)
        np.testing.assert_allclose(axes.lines[-1].get_ydata(), history.kinetic + history.potential)


class Pages(unittest.TestCase):
    def test_a_world_is_shown_and_put_back(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            with open(page, "w") as file:
                file.write('<html "quoted"><!-- replays --></html>')
            os.environ["TRIBO_PAGE"] = page
            try:
                world = tribo.World()
                world.add_body(tribo.sphere(1), position=(0, 0, 1))
                before = world.hash
                shown = tribo.show(world, seconds=0.1)
                self.assertEqual(world.hash, before)
            finally:
                del os.environ["TRIBO_PAGE"]
            data = re.search(r'data-replay="replay"[^>]*>([^<]+)<', shown.text).group(1)
            replay = os.path.join(folder, "replay.trp")
            with open(replay, "wb") as file:
                file.write(gzip.decompress(base64.b64decode(data)))
            self.assertGreater(os.path.getsize(replay), 100)
            self.assertIn("&quot;quoted&quot;", shown._repr_html_())
            shown.save(os.path.join(folder, "out.html"))


if __name__ == "__main__":
    unittest.main()
