# SPDX-License-Identifier: Apache-2.0
"""What a world is made of, what drives its bodies for long, sensors, copies; what C can ask Python can."""
import copy
import math
import os
import pickle
import tempfile
import unittest

import numpy as np
import tribo


def cube_world(**options):
    world = tribo.World(**options)
    world.add_body(tribo.plane(), motion="fixed", name="ground")
    world.add_body(tribo.box((1, 1, 1)), position=(0, 0, 0.5), name="cube")
    return world


def first_four(path):
    with open(path, "rb") as file:
        return file.read(4)


class Loads(unittest.TestCase):
    def test_a_load_pushes_in_every_step(self):
        world = tribo.World(gravity=(0, 0, 0), dt=0.01)
        ball = world.add_body(tribo.sphere(0.1), mass=2.0)
        ball.set_load(force=(1, 0, 0))
        world.step(100)
        self.assertAlmostEqual(ball.velocity[0], 0.5, places=12)
        ball.set_load([(0, 0, 0, 0, 0, 0, 0), (2, 0, 2, 0, 0, 0, 0)])
        self.assertEqual(ball.load.shape, (2, 7))
        ball.set_load([])
        self.assertEqual(len(ball.load), 0)
        world.step(10)
        self.assertAlmostEqual(ball.velocity[0], 0.5, places=12)

    def test_hostile_loads_are_refused(self):
        world = cube_world()
        for rows in ([(0, 1, 2)], np.zeros((2, 6)), [(0, math.nan, 0, 0, 0, 0, 0)], "text", 3, [(1,) + (0,) * 6, (0,) * 7]):
            with self.assertRaises((ValueError, TypeError)):
                world["cube"].set_load(rows)
        with self.assertRaises(tribo.ArgumentError):
            world["ground"].set_load(force=(1, 0, 0))

    def test_a_grip_brings_its_point_to_the_target(self):
        world = cube_world(gravity=(0, 0, 0))
        grip = world["cube"].grip((0.5, 0, 0.5))
        grip.target = (1.5, 0, 1.5)
        world.before_step(lambda world: grip.pull())
        world.step(300)
        self.assertLess(np.abs(grip.point - grip.target).max(), 1e-2)
        world["cube"].remove()
        for call in (grip.pull, lambda: grip.point):
            with self.assertRaises(tribo.ArgumentError):
                call()


class Looking(unittest.TestCase):
    def test_shapes_come_back_with_the_keys_of_scene_files(self):
        world = tribo.World()
        hull = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        body = world.add_body([tribo.sphere(0.5).at((0, 0, 1)), tribo.box((1, 2, 3)), tribo.capsule(0.1, 2), tribo.cylinder(0.2, 1),
                               tribo.convex(hull)], density=100)
        shapes = body.shapes
        self.assertEqual([s["type"] for s in shapes], ["sphere", "box", "capsule", "cylinder", "convex"])
        self.assertEqual(tuple(shapes[0]["position"]), (0, 0, 1))
        self.assertEqual(tuple(shapes[1]["size"]), (1, 2, 3))
        self.assertEqual((shapes[2]["length"], shapes[3]["radius"]), (2, 0.2))
        self.assertEqual(sorted(map(tuple, shapes[4]["vertices"])), sorted(hull))
        triangles = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
        for resolution in (0, 8):
            mesh = world.add_body(tribo.mesh(hull, triangles, resolution)).shapes[0]
            self.assertEqual((mesh["vertices"].shape, mesh["triangles"].shape), ((4, 3), (4, 3)))

    def test_sizes_and_degrees_of_freedom(self):
        world = cube_world()
        soft = world.add_soft(tribo.solid_box((1, 1, 1), (2, 2, 2)), position=(3, 0, 1))
        self.assertEqual((world["cube"].dofs, world["ground"].dofs, soft.dofs), (6, 0, 3 * len(soft.nodes)))
        self.assertEqual((world.size.bodies, world.size.shapes, world.size.tetrahedra), (3, 2, soft.elements))
        first, positions, velocities = world.nodes
        self.assertEqual((list(first), positions.shape), ([0, 0, 0, 27], velocities.shape))
        self.assertTrue((positions == soft.nodes).all())
        self.assertEqual(world.doubts(), [])

    def test_sensors_sum_forces_and_torques(self):
        world = cube_world()
        world["cube"].apply(force=(100, 0, 0), at=(0, 0, 0.9))
        world.step()
        contacts, dt = world.contacts, world.dt
        force = contacts.impulse[:, :1] * contacts.normal + contacts.impulse[:, 1:2] * contacts.tangent
        force = (force + contacts.impulse[:, 2:3] * np.cross(contacts.normal, contacts.tangent)) / dt
        arm = contacts.position - world["cube"].position
        cube = world["cube"].place
        side = np.where(contacts.b == cube, 1.0, -1.0)[:, None]
        self.assertLess(np.abs(world["cube"].contact_force - (side * force).sum(0)).max(), 1e-9)
        self.assertLess(np.abs(world["cube"].contact_torque - (side * np.cross(arm, force)).sum(0)).max(), 1e-9)
        self.assertEqual(world.contact_counts[cube], np.count_nonzero(contacts.impulse.any(1)))

    def test_a_sensor_feels_what_adheres(self):
        world = tribo.World(gravity=(0, 0, 9.81))  # hangs from the ground
        world.add_body(tribo.plane(), motion="fixed", friction={"mu": 0.5, "adhesion": 1e5})
        cube = world.add_body(tribo.box((1, 1, 1)), position=(0, 0, 0.5), friction={"mu": 0.5, "adhesion": 1e5})
        world.step(5)
        self.assertAlmostEqual(cube.contact_force[2], -cube.mass * 9.81, delta=1e-3)

    def test_friction_sets_are_drawn(self):
        world = cube_world()
        world.step()
        edge = world.friction_set(0, 16)
        self.assertEqual(edge.shape, (16, 3))
        self.assertLess(np.abs(np.linalg.norm(edge, axis=1) - 0.5).max(), 1e-12)
        for bad in ((99, 16), (-1, 16), (0, 2), (0, 10**9)):
            with self.assertRaises((IndexError, tribo.ArgumentError)):
                world.friction_set(*bad)

    def test_frictions_are_read_and_set_together(self):
        world = cube_world()
        world.add_material("ice", friction={"mu_t": 0.1, "mu_b": 0.2, "direction": (1, 0, 0), "torsion": 0.01})
        world.add_material("felt", friction={"model": "tensor", "matrix": [[0.3, 0.1], [-0.1, 0.4]], "direction": (0, 1, 0)})
        world.add_material("tape", friction={"mu": 0.4, "static_ratio": 1.5, "adhesion": 2.0})
        world.set_pair(world.material("ice"), world.material("tape"), 0.05)
        before = world.frictions
        world.frictions = before
        self.assertEqual(world.frictions, before)
        world.frictions = [{**f, "mu": 2 * f["mu"]} if "mu" in f else f for f in before]
        self.assertEqual(world.frictions[0]["mu"], 1.0)
        with self.assertRaises((ValueError, TypeError)):
            world.frictions = [0.3] * (len(before) - 1) + ["slippery"]
        self.assertEqual(world.frictions[0]["mu"], 1.0)  # all of them, or none

    def test_nearest_and_closest_points(self):
        world = cube_world()
        ball = world.add_body(tribo.sphere(0.5), position=(0, 0, 3))
        apart, on_cube, on_ball = world["cube"].closest(ball)
        self.assertAlmostEqual(apart, 1.5)
        self.assertLess(np.abs(np.array([on_cube, on_ball]) - [(0, 0, 1), (0, 0, 2.5)]).max(), 1e-6)
        hit = ball.nearest((0, 0, 10))
        self.assertAlmostEqual(hit.distance, 6.5)
        self.assertIsNone(ball.nearest((0, 0, 10), reach=1.0))


class Copies(unittest.TestCase):
    def test_worlds_are_copied_and_pickled_to_the_same_bits(self):
        world = tribo.World.gallery("arch")
        world.step(3)
        twins = [copy.deepcopy(world), pickle.loads(pickle.dumps(world)), tribo.World.from_bytes(world.to_bytes())]
        world.step(3)
        for twin in twins:
            twin.step(3)
            self.assertEqual(twin.hash, world.hash)
        for bad in (b"", b"tribo", world.to_bytes()[:-9], bytearray(100)):
            with self.assertRaises(tribo.InputError):
                tribo.World.from_bytes(bad)
        with self.assertRaises(TypeError):
            tribo.World.from_bytes("text")

    def test_problems_are_pickled_to_the_same_bits(self):
        problem = tribo.Problem.generate("stack", 4)
        twin = pickle.loads(pickle.dumps(problem))
        self.assertEqual(twin.to_json(), problem.to_json())
        with self.assertRaises(tribo.InputError):
            tribo.Problem.from_json("{}")

    def test_meshes_are_saved_as_obj(self):
        folder = tempfile.mkdtemp()
        path = os.path.join(folder, "tube.obj")
        tribo.tube(top=0.2, bottom=0.3, length=1.0, around=8, along=4).save_obj(path)
        world = tribo.World()
        cloth = world.add_cloth(tribo.load_mesh(path))
        self.assertEqual(len(cloth.nodes), 8 * 5)
        with self.assertRaises(tribo.ArgumentError):
            tribo.sphere(1).save_obj(path)

    def test_point_caches_come_back(self):
        with tempfile.TemporaryDirectory() as folder:
            world = tribo.World(gravity=(0, 0, 0), dt=0.01, scheme="implicit")
            soft = world.add_soft(tribo.solid_box((1, 1, 1), (1, 1, 1)), velocity=(1, 0, 0))
            world.record_to(folder, kind="pc2", fps=0)
            start = soft.nodes
            world.step(5)
            world.end_recordings()
            path, = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".pc2")]
            points = tribo.load_point_cache(path, scale=(1, 1, 2))
            self.assertEqual(points.shape[2], 3)
            self.assertLess(np.abs(points[-1] - points[0] - (0.05, 0, 0)).max(), 1e-6)
            self.assertAlmostEqual(np.ptp(points[0, :, 2]), 2 * np.ptp(start[:, 2]), places=6)
            with self.assertRaises(tribo.FileError):
                tribo.load_point_cache(os.path.join(folder, "no.pc2"))

    def test_solids_turn(self):
        solid = tribo.solid_box((1, 2, 3), (1, 1, 1))
        solid.rotate((1, 0, 0, 1))
        self.assertLess(np.abs(np.ptp(solid.nodes, axis=0) - (2, 1, 3)).max(), 1e-12)
        with self.assertRaises(ValueError):
            solid.rotate((0, 0, 0, 0))


class Others(unittest.TestCase):
    def test_constructors_take_names(self):
        self.assertEqual(tribo.sphere(radius=0.1).mass(1000)[0], tribo.sphere(0.1).mass(1000)[0])
        self.assertEqual(tribo.capsule(length=1, radius=0.1).type, "capsule")
        self.assertIn("radius", tribo.sphere.__text_signature__)
        with self.assertRaises(TypeError):
            tribo.box(radius=1)

    def test_the_checker_takes_dicts(self):
        self.assertEqual(tribo.check({"tribo": 1, "bodies": []}), [])
        (line, column, message), = tribo.check({"tribo": 1, "gravty": [0, 0, 0]})
        self.assertIn("gravity", message)
        self.assertEqual(tribo.schema()["type"], "object")
        self.assertIn("simd", tribo.build())

    def test_names_that_are_not_there_are_told_with_those_near_them(self):
        with self.assertRaisesRegex(tribo.FileError, 'cannot read arc: .*; the gallery has a scene "arch"'):
            tribo.World.load("arc")
        with self.assertRaisesRegex(ValueError, "there is no law 'nonnegative'; there are free, nonneg, "):
            tribo.Problem.from_delassus([[1.0]], [1.0], law="nonnegative", rows=1, params=[])
        with self.assertRaisesRegex(tribo.ArgumentError, 'there is no recording of kind "gltff"; there are .*gltf, '):
            cube_world().record_to("x", kind="gltff")

    def test_a_scheme_that_moves_what_is_there_is_chosen_unless_one_is_named(self):
        solid, sheet = tribo.solid_box((1, 1, 1), (1, 1, 1)), ((1, 1), (2, 2))
        for add, scheme in ((lambda w: w.add_soft(solid), "implicit"), (lambda w: w.add_cloth(sheet), "implicit"),
                            (lambda w: w.add_reduced(solid, 2), "implicit"), (lambda w: w.add_body(tribo.sphere(1)), "semi-implicit")):
            world = tribo.World()
            add(world)
            self.assertEqual(world.get("scheme"), scheme)
            world.step()
            for named in (tribo.World(scheme="pd"), tribo.World(**{"scheme.name": "pd"})):
                add(named)
                self.assertEqual(named.get("scheme"), "pd")

    def test_springs_of_engines(self):
        stiffness, damping = tribo.contact_spring(0.01, 0.2, 1e-3)
        h = 0.01
        self.assertAlmostEqual(h * stiffness / (h * stiffness + damping), 0.2)
        self.assertAlmostEqual(1 / (h * h * stiffness + h * damping), 1e-3)
        for bad in ((0, 0.2, 1e-3), (0.01, 0, 1e-3), (0.01, 2, 1e-3), (0.01, 0.2, 0), (math.nan, 0.2, 1)):
            with self.assertRaises(tribo.ArgumentError):
                tribo.contact_spring(*bad)

    def test_a_vertex_meets_a_triangle(self):
        triangle = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        met = tribo.ccd([(0.2, 0.2, 1)] + triangle, [(0.2, 0.2, -1)] + triangle, seconds=0.1)
        self.assertAlmostEqual(met.t, 0.5, places=5)
        self.assertAlmostEqual(met.back, 0.05, places=6)
        self.assertAlmostEqual(met.depth, 1.0, places=5)
        self.assertIsNone(tribo.ccd([(2, 2, 1)] + triangle, [(2, 2, -1)] + triangle))
        edges = [(-1, 0, 1), (1, 0, 1), (0, -1, 0), (0, 1, 0)]
        self.assertAlmostEqual(tribo.ccd(edges, [(-1, 0, -1), (1, 0, -1), (0, -1, 0), (0, 1, 0)], edges=True).t, 0.5, places=5)
        for bad in (np.zeros((3, 3)), np.full((4, 3), math.nan), "corner", None):
            with self.assertRaises((ValueError, TypeError)):
                tribo.ccd(bad, bad)
        with self.assertRaises(ValueError):
            tribo.ccd(edges, edges, method="guess")

    def test_a_solver_of_your_own_races(self):
        problem = tribo.Problem.generate("stack", 3)

        def lazy(problem, start):
            return np.zeros(problem.rows)

        def borrowed(problem, start):
            return problem.solve("bgs", start=start, tolerance=1e-10).impulses

        rows = problem.compare(["bgs", lazy, borrowed], tolerance=1e-6)
        self.assertEqual([row["outcome"] for row in rows], ["converged", "not converged", "converged"])
        self.assertEqual({frozenset(row) for row in rows}, {frozenset(rows[0])})
        with self.assertRaises((ValueError, TypeError)):
            problem.compare([lambda problem, start: [1.0]])


class Pictures(unittest.TestCase):
    def test_a_replay_becomes_pictures_and_other_files(self):
        folder = tempfile.mkdtemp()
        world = cube_world()
        world.record_to(os.path.join(folder, "a.trp"))
        world.step(10)
        world.end_recordings()
        replay = tribo.Replay(os.path.join(folder, "a.trp"))
        path = os.path.join(folder, "a.png")
        image = replay.image(size=(64, 48), samples=1, path=path)
        self.assertEqual((image.shape, image.dtype), ((48, 64, 3), np.uint8))
        self.assertGreater(np.ptp(image), 50)
        self.assertEqual(first_four(path), b"\x89PNG")
        self.assertTrue((replay.image(size=(64, 48), samples=1, threads=2) == image).all())
        replay.export("gltf", os.path.join(folder, "a.glb"))
        self.assertEqual(first_four(os.path.join(folder, "a.glb")), b"glTF")
        for bad in (dict(frame=99), dict(size=(8, 8)), dict(size=(10**6, 10**6)), dict(samples=9), dict(camera="drone"),
                    dict(camera="fixed"), dict(size=(0, 0)), dict(path=os.path.join(folder, "no", "where.png"))):
            with self.assertRaises((tribo.Error, ValueError, IndexError)):
                replay.image(**{"size": (64, 48), "samples": 1, **bad})
        with self.assertRaises(tribo.ArgumentError):
            replay.export("film", path)


if __name__ == "__main__":
    unittest.main()
