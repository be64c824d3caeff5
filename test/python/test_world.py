# SPDX-License-Identifier: Apache-2.0
"""Worlds from Python: building, stepping, arrays, changes, callbacks, snapshots, batches."""
import gc
import math
import os
import sys
import tempfile
import threading
import time
import unittest
import weakref

import numpy as np
import tribo


def stack(count=2, **options):
    world = tribo.World(**options)
    world.add_body(tribo.plane(), motion="fixed", name="ground")
    for i in range(count):
        world.add_body(tribo.box((1, 1, 1)), position=(0, 0, 0.5 + i), name=f"box{i}")
    return world


class Building(unittest.TestCase):
    def test_motors_and_efforts_are_driven(self):
        world = tribo.World(dt=0.01, gravity=(0, 0, 0))
        ball = world.add_body(tribo.sphere(0.1), mass=2.0)
        joint = world.add_joint("slider", None, ball, (0, 0, 0), (0, 0, 1), motor=(0.0, 1e6), name="lift")
        joint.follow([(0, 0.0), (0.1, 1.0)])
        world.step(5)
        self.assertAlmostEqual(joint.speed, 0.5, places=9)
        joint.set_motor(None)
        joint.effort = 4.0
        world.step(10)
        self.assertAlmostEqual(joint.speed, 0.7, places=9)
        self.assertAlmostEqual(joint.drive, 4.0)
        self.assertEqual(joint.effort, 4.0)
        joint.follow_effort([(0, -4.0)])
        world.step(10)
        self.assertAlmostEqual(joint.speed, 0.5, places=9)
        with self.assertRaises(tribo.ArgumentError):
            joint.effort = math.nan
        with self.assertRaises(tribo.ArgumentError):
            joint.follow([(0, 1.0)])  # neither a servo nor a motor
        other = world.add_joint("slider", None, world.add_body(tribo.sphere(0.1), (2, 0, 0), mass=2.0), (2, 0, 0), (0, 0, 1), effort=2.0)
        world.step(10)
        self.assertAlmostEqual(other.speed, 0.1, places=9)

    def test_control_comes_from_a_csv_file(self):
        world = tribo.World(dt=0.01, gravity=(0, 0, 0))
        joint = world.add_joint("slider", None, world.add_body(tribo.sphere(0.1), mass=2.0), (0, 0, 0), (0, 0, 1), motor=(0.0, 1e6), name="lift")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "way.csv")
            with open(path, "w") as file:
                file.write("t,lift.speed\n0,0\n0.1,1\n")
            world.load_control(path)
            world.step(5)
            self.assertAlmostEqual(joint.speed, 0.5, places=9)
            with open(path, "w") as file:
                file.write("t,lft\n0,0\n")
            with self.assertRaisesRegex(tribo.InputError, 'way.csv:1:3: no joint is called "lft"; did you mean "lift"'):
                world.load_control(path)

    def test_centres_of_mass_are_given(self):
        world = tribo.World(gravity=(0, 0, 0))
        body = world.add_body(tribo.box((1, 1, 1)), mass=1.0, centre_of_mass=(0.25, 0, 0), angular_velocity=(0, 0, 1))
        self.assertAlmostEqual(world.momentum[1], 0.25)
        del body

    def test_reduced_bodies_deform_by_modes(self):
        world = tribo.World(dt=1e-3, gravity=(0, 0, 0), scheme="implicit")
        bar = world.add_reduced(tribo.solid_box((1, 0.1, 0.1), (10, 1, 1)), 4, young=1e6)
        self.assertEqual((bar.kind, bar.modes.shape), ("reduced", (4,)))
        bar.set_modes([0.01, 0, 0, 0])
        self.assertGreater(world.energy.elastic, 0)
        world.step(3)
        self.assertNotEqual(bar.modes[0], 0.01)
        for wrong in ([1.0], [math.nan] * 4, "four"):
            with self.assertRaises((tribo.Error, ValueError, TypeError)):
                bar.set_modes(wrong)
        with self.assertRaises(ValueError):
            world.add_reduced(tribo.solid_box((1, 1, 1), (2, 2, 2)), 2, basis="none")

    def test_frictions_of_scene_files_are_python_dicts(self):
        world = tribo.World()
        texture = world.add_texture(np.tile([0.3, 0.0, 1.0], (4, 4, 1)))
        world.add_material("rough", friction={"model": "texture", "texture": texture, "direction": (1, 0, 0)})
        world.add_material("sticky", friction={"mu": 0.3, "static_ratio": 1.5, "stribeck": 0.1, "adhesion": 2.0})
        for wrong in ({"model": "texture", "texture": 0}, {"mu": 0.3, "static_ratio": math.nan}, {"mu": 0.3, "stick": 1}):
            with self.assertRaises((tribo.ArgumentError, ValueError)):
                world.add_material("wrong", friction=wrong)
        with self.assertRaises(ValueError):
            world.add_texture(np.zeros((4, 3)))

    def test_structures_turn_what_slides_over_them(self):
        """A field, a map of directions and texture coordinates that say the same do the same as a direction."""
        along = np.array([math.cos(0.7), math.sin(0.7)])

        def run(**where):
            world = tribo.World()
            friction = {"mu_t": 0.1, "mu_b": 0.5, **{key: make(world) for key, make in where.items()}}
            world.add_material("grooved", friction=friction)
            world.add_body(tribo.box((8, 8, 1)), (0, 0, -0.5), motion="fixed", material=world.material("grooved"))
            cube = world.add_body(tribo.box((0.2, 0.2, 0.1)), (0, 0, 0.05), velocity=(2, 0, 0))
            world.step(20)
            return np.array(cube.velocity)

        square = np.array([[-4, -4, 0.5], [4, -4, 0.5], [4, 4, 0.5], [-4, -4, 0.5], [4, 4, 0.5], [-4, 4, 0.5]])
        across = np.array([-along[1], along[0]])
        want = run(direction=lambda w: (*along, 0))
        self.assertGreater(abs(want[1]), 0.05)
        for other in (
            run(field=lambda w: w.add_field([(0, 0, 0), (1, 0, 0)], [(*along, 0), (*-along, 0)])),
            run(direction_map=lambda w: w.add_direction_map(np.tile(along, (2, 3, 1))), scale=lambda w: 0.5,
                mapping=lambda w: "planar"),
            run(direction_map=lambda w: w.add_direction_map(np.tile([1.0, 0.0], (1, 1, 1))),
                chart=lambda w: w.add_chart(square, square[:, :2] @ np.array([along, across]).T)),
        ):
            np.testing.assert_allclose(other, want, atol=1e-7)
        with self.assertRaises(tribo.ArgumentError):
            tribo.World().add_field([(0, 0, 0)], [(0, 0, 0)])
        with self.assertRaises(ValueError):
            run(mapping=lambda w: "round")

    def test_a_falling_box_comes_to_rest_on_the_ground(self):
        world = tribo.World()
        world.add_body(tribo.plane(), motion="fixed")
        cube = world.add_body(tribo.box((1, 1, 1)), position=(0, 0, 2))
        report = world.step(200)
        self.assertEqual(report.outcome, "converged")
        self.assertAlmostEqual(cube.position[2], 0.5, places=6)
        self.assertLess(report.residual, 1e-5)
        self.assertEqual(report.certificate.velocity, report.residual)

    def test_scene_file_dict_and_gallery_give_the_same_world(self):
        with tempfile.TemporaryDirectory() as folder:
            import json
            scene = {"tribo": 1, "bodies": [
                {"name": "ground", "shape": {"type": "plane", "normal": [0, 0, 1], "offset": 0}, "fixed": True},
                {"name": "ball", "shape": {"type": "sphere", "radius": 0.5}, "position": np.array([0, 0, 1.0])}]}
            path = os.path.join(folder, "scene.json")
            with open(path, "w") as file:
                json.dump(scene, file, default=lambda a: a.tolist())
            a, b = tribo.World.load(path), tribo.World.from_dict(scene)
            a.step(30), b.step(30)
            self.assertEqual(a.hash, b.hash)
        c, d = tribo.World.gallery("arch"), tribo.World.load("arch")
        self.assertEqual(c.hash, d.hash)
        self.assertGreater(len(c.bodies), 10)

    def test_every_shape_has_its_mass(self):
        cube = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
        self.assertAlmostEqual(tribo.convex(cube).mass(2.0)[0], 2.0)
        self.assertAlmostEqual(tribo.sphere(1).mass(3.0)[0], 4 * math.pi)
        self.assertAlmostEqual(tribo.cylinder(1, 2).mass(1.0)[0], 2 * math.pi)
        mass, centre, inertia = tribo.box((1, 2, 3)).at((1, 0, 0)).mass(1.0)
        self.assertAlmostEqual(mass, 6)
        np.testing.assert_allclose(centre, [1, 0, 0])
        np.testing.assert_allclose(np.diag(inertia), [6 / 12 * (4 + 9), 6 / 12 * (1 + 9), 6 / 12 * (1 + 4)])

    def test_geometry_lives_as_long_as_a_world_that_uses_it(self):
        world = tribo.World()
        world.add_body(tribo.plane(), motion="fixed")
        body = world.add_body(tribo.convex(np.random.default_rng(1).normal(size=(30, 3))), position=(0, 0, 3))
        gc.collect()
        world.step(100)
        self.assertTrue(np.isfinite(body.position).all())

    def test_joints_have_friction_and_armature(self):
        world = tribo.World(dt=1e-3)
        ball = world.add_body(tribo.sphere(0.1), mass=2.0)
        joint = world.add_joint("slider", None, ball, (0, 0, 0), (0, 0, 1), friction=5.0, armature=3.0)
        world.step(10)
        self.assertAlmostEqual(joint.speed, -0.01 * (2 * 9.81 - 5) / (2 + 3), places=6)
        self.assertEqual((joint.friction, joint.armature), (5.0, 3.0))
        joint.friction, joint.armature = 30.0, 0.0
        world.step(20)
        self.assertAlmostEqual(joint.speed, 0, places=6)
        for bad in (-1, math.nan):
            with self.assertRaises(tribo.ArgumentError):
                joint.armature = bad

    def test_joints_motors_and_servos(self):
        world = tribo.World(gravity=(0, 0, 0))
        bar = world.add_body(tribo.box((1, 0.1, 0.1)), position=(0.5, 0, 0))
        hinge = world.add_joint("hinge", None, bar, anchor=(0, 0, 0), axis=(0, 0, 1), servo=(0.3, 5000, 500, math.inf))
        world.step(300)
        self.assertAlmostEqual(hinge.coordinate, 0.3, places=3)
        hinge.target = -0.2
        world.step(300)
        self.assertAlmostEqual(hinge.coordinate, -0.2, places=3)
        hinge.set_motor(1.0)
        world.step(10)
        self.assertAlmostEqual(hinge.speed, 1.0, places=6)
        self.assertEqual(hinge.bodies, (None, bar))
        np.testing.assert_allclose(world.joint_speeds, [1.0], atol=1e-6)

    def test_servos_follow_keys_and_joints_have_names(self):
        world = tribo.World(gravity=(0, 0, 0))
        bar = world.add_body(tribo.box((1, 0.1, 0.1)), position=(0.5, 0, 0))
        hinge = world.add_joint("hinge", None, bar, anchor=(0, 0, 0), servo=(0, 5000, 500, math.inf), name="elbow")
        hinge.follow([(0.5, 0), (1.5, 1)])
        while world.time < 1:
            world.step()
        self.assertAlmostEqual(hinge.coordinate, 0.5, places=3)
        self.assertAlmostEqual(hinge.speed, 1, places=2)
        hinge.follow([])
        world.step(200)
        self.assertAlmostEqual(hinge.coordinate, 0.5, places=3)
        self.assertEqual(world.joint("elbow"), hinge)
        self.assertEqual(hinge.name, "elbow")
        for bad in ([(1, 0), (1, 1)], [(0, math.nan)], [(0, 1, 2)], "words"):
            with self.assertRaises((ValueError, TypeError, tribo.Error)):
                hinge.follow(bad)
        with self.assertRaises(KeyError):
            world.joint("knee")

    def test_soft_bodies_and_cloth_move_and_are_pinned(self):
        world = tribo.World(scheme="implicit")
        soft = world.add_soft(tribo.solid_box((1, 1, 1), (2, 2, 2)), position=(0, 0, 2), young=1e5)
        cloth = world.add_cloth(((1, 1), (3, 3)), position=(3, 0, 1), pins=[([0], None)])
        held = cloth.nodes[0].copy()
        world.step(5)
        self.assertLess(soft.position[2], 2)
        np.testing.assert_array_equal(cloth.nodes[0], held)
        cloth.unpin([0])
        world.step(3)
        self.assertLess(cloth.nodes[0][2], held[2])
        self.assertEqual(soft.triangles.shape[1], 3)
        self.assertEqual(soft.kind, "soft")

    def test_meshes_in_motion_carry_cloth(self):
        world = tribo.World(scheme="pd", dt=0.005)
        x = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
        triangles = [[0, 1, 2], [0, 2, 3]]
        lift = world.add_animated(triangles, [0, 1], [x, x + [0, 0, 0.5]], name="lift", thickness=0.002)
        sheet = world.add_cloth(((0.4, 0.4), (4, 4)), position=(0, 0, 2e-3))
        self.assertEqual(lift.kind, "animated")
        world.step(20)
        self.assertAlmostEqual(lift.nodes[2][2], 0.05)
        self.assertAlmostEqual(sheet.velocity[2], 0.5, 3)
        lift.set_frames([0], [x])
        world.step()
        self.assertAlmostEqual(lift.nodes[2][2], 0)
        for bad in ([x[:3]], [[1.0, 2.0]], []):
            with self.assertRaises(ValueError):
                lift.set_frames(np.arange(len(bad)), bad)
        with self.assertRaises(tribo.Error):
            world.add_animated([[0, 1, 9]], [0], [x])
        with self.assertRaises(tribo.Error):
            world.add_animated(triangles, [0, 0], [x, x])

    def test_springs_hold_nodes_of_a_body(self):
        world = tribo.World(scheme="pd", gravity=(0, 0, 0))
        solid = tribo.solid_box((1, 1, 1), (1, 1, 1))
        soft = world.add_soft(solid, young=1e4, springs=[(0, 7, 1e4, 0.5)], stiffness_damping=0.1)
        apart = np.linalg.norm(soft.nodes[7] - soft.nodes[0])
        world.step(50)
        self.assertLess(np.linalg.norm(soft.nodes[7] - soft.nodes[0]), 0.9 * apart)
        for bad in ([(0, 0, 1.0)], [(0, 99, 1.0)], [(0, 1, -1.0)]):
            with self.assertRaises(tribo.Error):
                world.add_soft(solid, springs=bad)
        with self.assertRaises(TypeError):
            world.add_soft(solid, springs=[(0, "1", 1.0)])


class Reading(unittest.TestCase):
    def test_arrays_agree_with_the_handles(self):
        world = stack(3)
        world.step(5)
        for body in world.bodies:
            np.testing.assert_array_equal(world.positions[body.place], body.position)
            np.testing.assert_array_equal(world.orientations[body.place], body.orientation)
            np.testing.assert_array_equal(world.velocities[body.place], body.velocity)
        self.assertEqual(world["box1"], world.bodies[2])
        self.assertRaises(KeyError, lambda: world["nothing"])
        with self.assertRaisesRegex(ValueError, 'did you mean "arch"'):
            tribo.World.gallery("arhc")
        with self.assertRaisesRegex(KeyError, 'there is no joint "knee"; there is .*elbow'):
            tribo.World.gallery("arm").joint("knee")
        with self.assertRaisesRegex(KeyError, 'there is no joint "elbw"; did you mean "elbow"'):
            tribo.World.gallery("arm").joint("elbw")
        with self.assertRaisesRegex(TypeError, "such as tribo.sphere"):
            world.add_body(None)

    def test_contact_forces_carry_the_weight(self):
        world = stack(2)
        world.step(100)
        weight = 9.81 * world.masses
        forces = world.contact_forces
        np.testing.assert_allclose(forces[1:, 2], weight[1:], rtol=1e-4)
        np.testing.assert_allclose(forces.sum(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(world["box1"].contact_force, forces[2])
        c = world.contacts
        self.assertEqual(len(c.gap), len(c.a))
        np.testing.assert_allclose(np.linalg.norm(c.normal, axis=1), 1)
        self.assertTrue((c.impulse[:, 0] >= -1e-12).all())

    def test_arrays_are_copies(self):
        world = stack()
        before = world.positions
        before[:] = 7
        self.assertFalse((world.positions == 7).any())

    def test_history_records_every_step(self):
        world = stack()
        history = world.run(steps=7)
        self.assertEqual(len(history.time), 7)
        self.assertAlmostEqual(history.time[-1], world.time)
        self.assertEqual(history.kinetic[-1], world.energy.kinetic)
        self.assertTrue((history.converged == 1).all())

    def test_queries(self):
        world = stack(1)
        hit = world.ray((0, 0, 5), (0, 0, -1))
        self.assertEqual(hit.body, world["box0"])
        self.assertAlmostEqual(hit.distance, 4)
        self.assertIsNone(world.ray((0, 0, 5), (0, 0, 1)))
        self.assertEqual(world.nearest((0, 0, 1.5)).body, world["box0"])
        self.assertIn(world["box0"], world.overlap((-1, -1, 0.2), (1, 1, 1)))
        self.assertAlmostEqual(world["box0"].distance(world["ground"]), 0, places=9)

    def test_recordings_are_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.trp")
            world = stack()
            world.record_to(path)
            world.step(10)
            world.close()
            self.assertGreater(os.path.getsize(path), 100)


class Changing(unittest.TestCase):
    def test_what_is_removed_is_refused(self):
        world = stack(2)
        box = world["box0"]
        box.remove()
        self.assertEqual(box.place, -1)
        for touch in (lambda: box.position, lambda: box.apply((1, 0, 0)), lambda: box.remove(), lambda: box.name,
                      lambda: setattr(box, "velocity", (0, 0, 0))):
            self.assertRaises(tribo.ArgumentError, touch)
        self.assertIn("gone", repr(box))
        world.step(5)

    def test_changes_act(self):
        world = stack(1, gravity=(0, 0, 0))
        box = world["box0"]
        box.velocity = (1, 0, 0)
        np.testing.assert_allclose(box.velocity, [1, 0, 0])
        box.position = [0, 0, 5]
        world.gravity = np.array([0, 0, -1.0], dtype=np.float32)
        box.set_mass(3.0)
        self.assertAlmostEqual(box.mass, 3)
        box.apply(force=(0, 0, 3.0))
        world.step()
        self.assertAlmostEqual(box.velocity[2], 0, places=12)
        material = world.add_material("ice", friction=0.0)
        box.set_material(material)
        self.assertRaises(tribo.Error, material.remove)
        box.set_friction({"mu_t": 0.1, "mu_b": 0.2, "direction": (1, 0, 0)})
        self.assertRaises(ValueError, box.set_friction, {"mu": 0.1, "rolling": 0.1, "mu_t": 0.2})
        self.assertRaises(ValueError, box.set_friction, {"nu": 0.1})

    def test_kinematic_bodies_follow(self):
        world = tribo.World()
        plate = world.add_body(tribo.box((1, 1, 1)), motion="kinematic", keys=[(0, 0, 0, 0, 1, 0, 0, 0), (1, 2, 0, 0, 1, 0, 0, 0)])
        world.step(50)
        self.assertAlmostEqual(plate.position[0], 1, places=9)
        plate.move_to((0, 0, 0), seconds=0.1)
        world.step(20)
        self.assertAlmostEqual(plate.position[0], 0, places=9)

    def test_options_by_name(self):
        world = stack(1, dt=0.002, solver="bgs")
        self.assertEqual((world.dt, world.get("solver")), (0.002, "bgs"))
        world.set(order="layers", warm_start=False, iterations=50)
        self.assertEqual((world.get("solver.order"), world.get("warm_start"), world.get("iterations")), ("layers", False, 50))
        with self.assertRaises(tribo.ArgumentError) as caught:
            world.set(ordr="layers")
        self.assertIn("order", str(caught.exception))
        self.assertRaises(tribo.ArgumentError, world.set, dt=-1)


class Callbacks(unittest.TestCase):
    def test_a_callback_drives_the_world(self):
        world = stack(1, gravity=(0, 0, 0))
        seen = []

        @world.before_step
        def push(w):
            seen.append(w.time)
            w["box0"].apply(force=(w["box0"].mass, 0, 0))

        world.step(10)
        self.assertEqual(len(seen), 10)
        self.assertAlmostEqual(world["box0"].velocity[0], 0.1)
        world.remove_callback(push)
        world.step()
        self.assertEqual(len(seen), 10)

    def test_an_exception_in_a_callback_ends_the_steps(self):
        world = stack(1)

        @world.before_step
        def fail(w):
            if w.steps == 3:
                raise KeyError("enough")

        self.assertRaises(KeyError, world.step, 10)
        self.assertEqual(world.steps, 3)

    def test_closing_in_a_callback_is_an_error_not_a_crash(self):
        world = stack(1)
        world.before_step(lambda w: w.close())
        self.assertRaises(tribo.ArgumentError, world.step)

    def test_a_world_with_a_callback_on_itself_is_collected(self):
        world = stack(1)
        world.before_step(lambda w, keep=world: None)
        gone = weakref.ref(world)
        del world
        gc.collect()
        self.assertIsNone(gone())


class Lifetimes(unittest.TestCase):
    def test_a_snapshot_brings_the_same_bits_back(self):
        world = stack(3)
        world.step(5)
        moment, first = world.snapshot(), world.hash
        world.step(10)
        later = world.hash
        extra = world.add_body(tribo.sphere(1), position=(5, 0, 5))
        world.restore(moment)
        self.assertEqual(world.hash, first)
        self.assertRaises(tribo.ArgumentError, lambda: extra.position)
        world.step(10)
        self.assertEqual(world.hash, later)
        self.assertRaises(tribo.ArgumentError, stack(3).restore, moment)

    def test_a_checkpoint_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            world = stack(2)
            world.step(5)
            world.save_checkpoint(os.path.join(folder, "c.tbc"))
            other = tribo.World.load_checkpoint(os.path.join(folder, "c.tbc"))
            world.step(5), other.step(5)
            self.assertEqual(world.hash, other.hash)

    def test_a_closed_world_raises(self):
        with stack() as world:
            body = world["box0"]
            shot = world.snapshot()
        for touch in (world.step, lambda: body.position, lambda: world.positions, lambda: world.contacts, world.snapshot,
                      lambda: world.restore(shot), lambda: world.problem(), lambda: world.add_body(tribo.sphere(1)),
                      lambda: world.set(dt=1), lambda: world.energy, lambda: tribo.batch([world])):
            self.assertRaises(tribo.ArgumentError, touch)
        world.close()
        self.assertIn("closed", repr(world))

    def test_a_world_is_made_once(self):
        world = stack(1)
        self.assertRaises(tribo.ArgumentError, world.__init__)
        blank = tribo.World.__new__(tribo.World)
        self.assertRaises(tribo.ArgumentError, blank.step)

    def test_steps_release_the_lock_and_refuse_other_threads(self):
        world = tribo.World.gallery("arch")
        world.step(2)
        refused, counted = [], [0]
        done = threading.Event()

        def other():
            while not done.is_set():
                counted[0] += 1
                try:
                    world.positions
                except RuntimeError as error:
                    refused.append(str(error))

        thread = threading.Thread(target=other)
        thread.start()
        failures = 0
        for _ in range(50):
            try:
                world.step(2)
            except RuntimeError:
                failures += 1
        done.set()
        thread.join()
        self.assertGreater(counted[0], 5)
        self.assertEqual(failures, 0)
        self.assertTrue(refused)
        self.assertIn("another thread", refused[0])

    def test_100000_steps_leak_nothing(self):
        world = stack(1)
        world.before_step(lambda w: None)
        world.step(1000)  # caches fill
        def some(count):
            for _ in range(count):
                report = world.step()
                world.contacts, world.positions, world["box0"].velocity, report.certificate
        some(2000)
        gc.collect()
        blocks, refs = sys.getallocatedblocks(), sys.getrefcount(tribo.Report)
        memory = resident()
        world.step(90000)
        some(10000)
        gc.collect()
        self.assertLess(abs(sys.getallocatedblocks() - blocks), 200)
        self.assertLessEqual(abs(sys.getrefcount(tribo.Report) - refs), 1)
        self.assertLess(resident() - memory, 4 << 20)

    def test_a_thousand_worlds_leak_nothing(self):
        def some():
            for _ in range(300):
                world = stack(1)
                world.step()
                world.problem().solve()
                world.snapshot()
        some()
        gc.collect()
        blocks, memory = sys.getallocatedblocks(), resident()
        some(), some(), some()
        gc.collect()
        self.assertLess(abs(sys.getallocatedblocks() - blocks), 300)
        self.assertLess(resident() - memory, 8 << 20)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Batches(unittest.TestCase):
    def test_a_batch_has_the_bits_of_its_worlds_alone(self):
        def make(i):
            world = stack(2)
            world["box1"].velocity = (0.1 * i, 0, 0)
            return world
        worlds, alone = [make(i) for i in range(12)], [make(i) for i in range(12)]
        reports = tribo.batch(worlds, steps=20, threads=3)
        for world in alone:
            world.step(20)
        self.assertEqual([w.hash for w in worlds], [w.hash for w in alone])
        self.assertEqual(len(reports), 12)
        self.assertEqual({r.outcome for r in reports}, {"converged"})

    def test_a_batch_calls_back_and_passes_exceptions_on(self):
        worlds = [stack(1) for _ in range(4)]
        calls = []
        for world in worlds:
            world.before_step(lambda w: calls.append(w))
        tribo.batch(worlds, steps=3, threads=2)
        self.assertEqual(len(calls), 12)
        worlds[2].before_step(lambda w: 1 / 0)
        self.assertRaises(ZeroDivisionError, tribo.batch, worlds, 3, 2)
        worlds[0].positions  # not busy any more

    def test_what_is_no_batch_is_refused(self):
        world = stack(1)
        self.assertRaises(RuntimeError, tribo.batch, [world, world])
        self.assertRaises(TypeError, tribo.batch, [world, 3])
        self.assertRaises(ValueError, tribo.batch, [world], 0)
        self.assertRaises(ValueError, tribo.batch, [world], 1, 0)
        self.assertEqual(tribo.batch([]), [])
        world.step()


class Cost(unittest.TestCase):
    """Bounds with room for a busy machine; the processor's time is measured, not the clock's."""

    def test_a_python_step_costs_little_more_than_a_c_step(self):
        def best(function, count=5):
            times = []
            for _ in range(count):
                start = time.thread_time()
                function()
                times.append(time.thread_time() - start)
            return min(times)
        world = tribo.World(gravity=(0, 0, 0))
        world.add_body(tribo.sphere(1))
        n = 2000
        inside = best(lambda: world.step(n))
        outside = best(lambda: [world.step() for _ in range(n)])
        self.assertLess((outside - inside) / n, 20e-6)

    def test_import_takes_less_than_50_ms(self):
        import subprocess
        code = ("import time; start = time.process_time(); import tribo, sys; "
                "print(time.process_time() - start, 'numpy' in sys.modules)")
        seconds = []
        for _ in range(5):
            out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
            self.assertEqual(out[1], "False")
            seconds.append(float(out[0]))
        self.assertLess(min(seconds), 0.05)


if __name__ == "__main__":
    unittest.main()
