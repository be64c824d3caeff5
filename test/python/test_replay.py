# SPDX-License-Identifier: Apache-2.0
"""Recorded runs, and what is asked of worlds many at a time."""
import math
import os
import tempfile
import unittest

import numpy as np
import tribo


class Replays(unittest.TestCase):
    def test_frames_are_the_steps(self):
        w = tribo.World(dt=0.01)
        w.add_body(tribo.plane(), motion="fixed", name="ground")
        ball = w.add_body(tribo.sphere(0.5), position=(1, 2, 0.6), velocity=(1, 0, 0), name="ball")
        w.add_cloth(((1, 1), (2, 2)), position=(5, 0, 3))
        w.set(scheme="implicit")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.trp")
            w.record_to(path, fps=0)
            seen = [(w.time, ball.position, w.energy.kinetic)]
            for _ in range(30):
                w.step()
                seen.append((w.time, ball.position, w.energy.kinetic))
            force = ball.contact_force
            w.end_recordings()
            replay = tribo.Replay(path)
            self.assertEqual(len(replay), 31)
            self.assertEqual(replay.bodies, ["ball"])
            for frame, (time, position, kinetic) in zip(replay, seen):
                self.assertAlmostEqual(frame.time, time)
                np.testing.assert_allclose(frame.positions[0], position, atol=1e-6)
                self.assertAlmostEqual(frame.scalars["kinetic"], kinetic, delta=1e-5 * kinetic)
                np.testing.assert_allclose(np.linalg.norm(frame.orientations, axis=1), 1, atol=1e-6)
            last = replay[-1]
            np.testing.assert_allclose(last.contacts[:, 8:11].sum(axis=0) / w.dt, force, rtol=1e-4, atol=1e-3)
            self.assertEqual(last.nodes.shape, (9, 3))
            self.assertEqual(replay.at(0.105).step, 10)
            self.assertEqual((replay.at(-1).step, replay.at(99).step), (0, 30))
            self.assertRaises(IndexError, lambda: replay[31])
            self.assertRaises(IndexError, lambda: replay[-32])
            with open(path, "r+b") as file:
                file.truncate(1000)
            self.assertRaises(tribo.InputError, tribo.Replay, path)
            self.assertRaises(tribo.FileError, tribo.Replay, path + "x")


class Questions(unittest.TestCase):
    def test_many_rays_are_each_ray(self):
        w = tribo.World()
        w.add_body(tribo.plane(), motion="fixed")
        rng = np.random.default_rng(3)
        for _ in range(40):
            w.add_body([tribo.box(rng.uniform(0.1, 1, 3)), tribo.sphere(0.3).at((0.5, 0, 0))], position=rng.uniform(-4, 4, 3) + (0, 0, 5))
        starts, directions = rng.uniform(-6, 6, (200, 3)) + (0, 0, 7), rng.normal(size=(200, 3))
        got = w.rays(starts, directions, length=9)
        places = {body: body.place for body in w.bodies}
        met = 0
        for i in range(200):
            hit, every = w.ray(starts[i], directions[i], length=9), w.ray_all(starts[i], directions[i], length=9)
            self.assertEqual(every[:1] == [], hit is None)
            if hit is None:
                self.assertEqual((got.distance[i], got.body[i]), (math.inf, -1))
                continue
            met += 1
            self.assertEqual((got.distance[i], got.body[i], got.shape[i]), (hit.distance, places[hit.body], hit.shape))
            np.testing.assert_array_equal(got.point[i], hit.point)
            np.testing.assert_array_equal(got.normal[i], hit.normal)
            self.assertEqual(every[0].distance, hit.distance)
            self.assertEqual([h.distance for h in every], sorted(h.distance for h in every))
        self.assertGreater(met, 40)
        for bad in ((starts[:3], directions), (starts[:, :2], directions[:, :2]), (starts * np.nan, directions), ("a", "b"), (None, None)):
            self.assertRaises((TypeError, ValueError), w.rays, *bad)
        self.assertEqual(w.rays(np.zeros((0, 3)), np.zeros((0, 3))).distance.shape, (0,))

    def test_inertia_and_materials(self):
        w = tribo.World()
        box = w.add_body(tribo.box((1, 2, 3)), mass=12)
        np.testing.assert_allclose(box.inertia, [13, 10, 5, 0, 0, 0])
        np.testing.assert_array_equal(w.add_body(tribo.box((1, 1, 1)), motion="fixed").inertia, np.zeros(6))
        steel = w.add_material("steel")
        self.assertEqual(len(w.materials), 2)
        self.assertEqual(w.materials[1], steel)

    def test_solids(self):
        for solid, volume in ((tribo.solid_cylinder(0.5, 2, 12, 4), math.pi / 2), (tribo.solid_torus(1, 0.25, 8, 40), 2 * math.pi ** 2 / 16),
                              (tribo.solid_ring(0.5, 1, 0.3, (2, 40, 2)), math.pi * 0.75 * 0.3)):
            w = tribo.World(scheme="implicit")
            self.assertAlmostEqual(w.add_soft(solid, density=1).mass, volume, delta=0.06 * volume)
            self.assertEqual(solid.refine().tetrahedra, 8 * solid.tetrahedra)
            edges = {tuple(sorted(t[[i, j]])) for t in solid.triangles for i, j in ((0, 1), (1, 2), (2, 0))}
            self.assertEqual(2 * len(edges), 3 * len(solid.triangles))  # closed

    def test_all_errors_of_a_scene(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scene.json")
            with open(path, "w") as file:
                file.write('{"tribo": 1,\n"gravty": 3,\n"bodies": [{"shapes": [{"type": "spher", "radius": 1}]}]}')
            found = tribo.check(path)
            self.assertEqual([(line, "did you mean" in text) for line, _, text in found], [(2, True), (3, True)])
            with open(path, "w") as file:
                file.write('{"tribo": 1}')
            self.assertEqual(tribo.check(path), [])
        self.assertRaises(tribo.FileError, tribo.check, path)

    def test_gradients_of_scenes_by_name_and_of_arrays(self):
        loss, found, _ = tribo.gradient("incline", ("block", (1, 0, 0)), "block.velocity", dt=0.05)
        self.assertEqual(found["block.velocity"].shape, (3,))
        ball = {"tribo": 1, "time": 0.5, "dt": 0.1, "bodies": [{"name": "b", "shapes": [{"type": "sphere", "radius": np.float64(1)}],
                                                              "velocity": np.array([1.0, 0, 0])}]}
        loss, found, _ = tribo.gradient(ball, ("b", (0, 0, -0.5 * 9.81 * 0.25)), "b.velocity")
        np.testing.assert_allclose(found["b.velocity"][0], 2 * 0.5 * 0.5, atol=1e-9)


class Names(unittest.TestCase):
    def test_a_folder_does_not_hide_a_scene_of_the_gallery(self):
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                os.mkdir("arch")
                self.assertEqual(tribo.World.load("arch").hash, tribo.World.gallery("arch").hash)
            finally:
                os.chdir(here)


if __name__ == "__main__":
    unittest.main()
