# SPDX-License-Identifier: Apache-2.0
"""What is wrong raises, with a line that says what, and never crashes."""
import array
import unittest

import numpy as np
import tribo


def world():
    w = tribo.World()
    w.add_body(tribo.box((1, 1, 1)), name="box")
    return w


BAD_VECTORS = [
    (1, 2), (1, 2, 3, 4), [], None, "abc", b"abc", 3.0, {"x": 1}, (1, 2, "3"), (1, 2, None), (1, 2, 3j), [[1, 2, 3]],
    (1, 2, float("nan")), (1, float("inf"), 2), np.zeros((3, 1)), np.zeros(0), np.zeros(4), np.array(["a", "b", "c"]),
    np.array([1, 2, None], dtype=object), np.array([1, 2, 3j]), np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
    np.array([1, 2, np.nan], dtype=np.float32), np.zeros((3, 3)), object(), range(4), {1, 2, 3},
    np.zeros(3, dtype=[("x", float)]), np.zeros(3, dtype=">f8"), memoryview(b"abcdefgh"),
]


class Vectors(unittest.TestCase):
    def test_bad_vectors_are_refused_everywhere(self):
        w = world()
        box = w["box"]
        before = w.hash
        for bad in BAD_VECTORS:
            for use in (lambda: box.apply(force=bad), lambda: box.apply((0, 0, 0), at=(bad if bad is not None else 1)),
                        lambda: setattr(box, "position", bad if bad is not None else ()), lambda: tribo.box(bad),
                        lambda: tribo.plane(bad), lambda: w.ray(bad, (0, 0, 1)), lambda: w.add_body(position=bad),
                        lambda: setattr(w, "gravity", bad), lambda: tribo.sphere(1).at(bad),
                        lambda: w.add_joint("ball", None, box, anchor=bad)):
                with self.subTest(bad=repr(bad)[:40]):
                    self.assertRaises((TypeError, ValueError, OverflowError), use)
        self.assertEqual(w.hash, before)

    def test_good_vectors_of_every_kind(self):
        w = world()
        rows = np.arange(12.0).reshape(4, 3)
        for good in ((1, 2, 3), [1, 2, 3], np.array([1, 2, 3]), np.array([1, 2, 3], dtype=np.float32),
                     np.array([1, 2, 3], dtype=np.int16), np.array([1, 0, 2, 0, 3, 0.0])[::2], np.array([3, 2, 1.0])[::-1],
                     rows[1], np.asfortranarray(rows)[2], array.array("d", [1, 2, 3]), array.array("f", [1, 2, 3]),
                     memoryview(array.array("i", [1, 2, 3])), range(3), np.array([True, False, True])):
            w["box"].position = good
            np.testing.assert_allclose(w["box"].position, list(good))

    def test_big_numbers_and_strange_scalars(self):
        w = world()
        for use in (lambda: w.step(0), lambda: w.step(-1), lambda: w.step(1 << 80), lambda: w.step("a"), lambda: w.step(1.5),
                    lambda: tribo.sphere(-1), lambda: tribo.sphere(float("nan")), lambda: tribo.sphere("x"),
                    lambda: tribo.box((1, 0, 1)), lambda: setattr(w, "threads", 0), lambda: setattr(w, "threads", -5),
                    lambda: setattr(w, "threads", 10 ** 30), lambda: w["box"].set_mass(-1), lambda: w["box"].set_mass(float("inf")),
                    lambda: w.add_material("m", density=-1), lambda: w.add_body(motion="flying"),
                    lambda: w.add_body(orientation=(0, 0, 0, 0)), lambda: tribo.sphere(1).at((0, 0, 0), (0, 0, 0, 0)),
                    lambda: w.add_body([tribo.sphere(1), 3]), lambda: w.add_body(3), lambda: w.add_body(name="box"),
                    lambda: w.add_joint("rope", None, w["box"], (0, 0, 0)), lambda: w.add_body(category=-1),
                    lambda: w.add_joint("hinge", None, w["box"], (0, 0, 0), limits=(1, 2, 3)),
                    lambda: w.add_joint("hinge", None, w["box"], (0, 0, 0), limits=(2, 1)), lambda: w.run(seconds=float("nan")),
                    lambda: w.set(dt=float("nan")), lambda: w.set(dt=[1]), lambda: w.get("nothing")):
            self.assertRaises((TypeError, ValueError, OverflowError), use)
        w.step()


class Meshes(unittest.TestCase):
    def test_bad_meshes(self):
        good = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
        faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
        self.assertAlmostEqual(tribo.mesh(good, faces).mass(6.0)[0], 1)
        for v, t in ((good[:, :2], faces), (good, faces[:, :2]), (good, faces + 1), (good, -faces), (good, faces + 0.5),
                     (good * np.nan, faces), (good, faces * 2 ** 40), (good, np.zeros((0, 3), int)), (np.zeros((0, 3)), faces),
                     (good[0], faces), (good, "abc"), (None, faces), ([[1, 2, 3], [1, 2]], faces), (good.astype(complex), faces)):
            self.assertRaises((TypeError, ValueError), tribo.mesh, v, t)
        for points in (good[:3], np.zeros((5, 3)), np.zeros((0, 3)), [], [[1, 2, 3], [1, 2, "x"]], np.full((4, 3), np.inf)):
            self.assertRaises((TypeError, ValueError), tribo.convex, points)
        self.assertRaises((TypeError, ValueError), tribo.solid, good, [[0, 1, 2, 9]])
        self.assertRaises((TypeError, ValueError), tribo.solid, good, [[0, 2, 1, 3]])
        self.assertRaises(OSError, tribo.load_mesh, "/nowhere/at.all")

    def test_bad_nodes(self):
        w = tribo.World(scheme="implicit")
        soft = w.add_soft(tribo.solid_box((1, 1, 1), (1, 1, 1)))
        n = len(soft.nodes)
        for bad in (np.zeros((n + 1, 3)), np.zeros((n, 2)), np.full((n, 3), np.nan), "x", None, np.zeros(n)):
            self.assertRaises((TypeError, ValueError), soft.set_nodes, bad, np.zeros((n, 3)))
            self.assertRaises((TypeError, ValueError), soft.apply_nodes, bad)
        for nodes in ([n], [-1], [0.5], "a", [[0]]):
            self.assertRaises((TypeError, ValueError), soft.pin, nodes)


class Problems(unittest.TestCase):
    def test_bad_matrices(self):
        W, q, mu = np.eye(6), -np.ones(6), [0.5, 0.5]
        self.assertEqual(tribo.Problem.from_delassus(W, q, mu).contacts, 2)
        for args in ((W[:5], q, mu), (W, q[:5], mu), (W, q, [0.5] * 4), (W * np.nan, q, mu), (W, q * np.nan, mu),
                     (W, q, [0.5, -1]), (W, q, [0.5, np.nan]), ("W", q, mu), (W, q, []), (W.astype(complex), q, mu),
                     (W[0], q, mu), (W.astype(object), q, mu), (W, "q", mu), (W, q, None)):
            self.assertRaises((TypeError, ValueError), tribo.Problem.from_delassus, *args)
        A, J = np.eye(6), np.eye(6)
        for args in ((A[:5], J, q, mu), (A, J[:5], q, mu), (A, J[:, :5], q, mu), (-A, J, q, mu), (A * np.nan, J, q, mu),
                     (A, J + np.inf, q, mu), (A, J, q, mu, np.zeros(5)), ([A[:3, :3]], J, q, mu), ([A, A], J, q, mu),
                     (A + np.eye(6, k=1), J, q, mu)):
            self.assertRaises((TypeError, ValueError, tribo.NumericError), tribo.Problem.from_metric, *args)

    def test_broken_compressed_rows(self):
        from tribo import _native
        contacts = ([3], [3], [0.5], [0, 0, 0], [0, 0, 0])
        for ptr, col in (([0, 1, 2], [0, 1, 2]), ([0, 1, 2, 4], [0, 1, 2]), ([0, 2, 1, 3], [0, 1, 2]), ([0, 1, 2, 3], [0, 1, 3]),
                         ([0, 1, 2, 3], [0, -1, 2]), ([1, 1, 2, 3], [0, 1, 2]), ([0, 1, 2, 3], [0, 1, 2 ** 40])):
            self.assertRaises(ValueError, _native.problem_from_W, "p", (3, 3, ptr, col, [1.0, 1, 1]), contacts)
        for bad in (([9], [3], [0.5], [0] * 3, [0] * 3), ([3], [7], [0.5], [0] * 7, [0] * 7), ([3], [3], [], [0] * 3, [0] * 3),
                    ([3, 3], [3], [0.5], [0] * 3, [0] * 3), ([3], [3], [0.5], [0] * 3, [0] * 2), ([3], [3], [0.5], [0] * 3)):
            self.assertRaises((ValueError, TypeError), _native.problem_from_W, "p", (3, 3, [0, 1, 2, 3], [0, 1, 2], [1.0] * 3), bad)

    def test_bad_impulses_and_options(self):
        p = tribo.Problem.generate("stack", size=2)
        for bad in (np.zeros(p.rows - 1), np.zeros(0), np.full(p.rows, np.nan), "abc", np.zeros((p.rows, 1)), None):
            self.assertRaises((TypeError, ValueError), p.judge, bad)
            if bad is not None:
                self.assertRaises((TypeError, ValueError), p.solve, start=bad)
        for options in ({"solver": "magic"}, {"tolerance": -1}, {"iterations": "many"}, {"model": "sphere"}, {"threads": 0}, {"nonsense": 1}):
            self.assertRaises((TypeError, ValueError), p.solve, **options)
        self.assertRaises(ValueError, p.judge, np.zeros(p.rows), "sphere")
        self.assertRaises(ValueError, p.judge, np.zeros(p.rows), "polyhedral", 1000)
        self.assertRaises(ValueError, p.compare, ["magic"])
        self.assertRaises(TypeError, tribo.Problem, 3)


class Files(unittest.TestCase):
    def test_errors_carry_their_place(self):
        text = {"tribo": 1, "bodies": [{"name": "a", "shap": {"type": "sphere", "radius": 1}}]}
        with self.assertRaises(tribo.InputError) as caught:
            tribo.World.from_dict(text)
        error = caught.exception
        self.assertIsInstance(error, ValueError)
        self.assertEqual((error.status, error.line), ("input", 1))
        self.assertGreater(error.column, 1)
        self.assertIn("shape", str(error))
        self.assertRegex(error.source, r"src/.*:\d+")
        with self.assertRaises(tribo.FileError) as caught:
            tribo.World.load("/nowhere/scene.json")
        self.assertIsInstance(caught.exception, OSError)
        self.assertIn("/nowhere/scene.json", str(caught.exception))
        self.assertRaises(tribo.Error, tribo.Problem.load, "/dev/null")
        self.assertRaises(ValueError, tribo.World.gallery, "nothing")
        self.assertRaises(tribo.ArgumentError, tribo.World.gallery, "arch", thickness=1e9)
        self.assertRaises((TypeError, ValueError), tribo.World.load, "a\0b")
        self.assertRaises(TypeError, tribo.World.from_dict, {"tribo": object()})

    def test_handles_of_another_world_are_refused(self):
        a, b = world(), world()
        self.assertRaises(tribo.ArgumentError, a.add_joint, "ball", a["box"], b["box"], (0, 0, 0))
        self.assertRaises(tribo.ArgumentError, a["box"].distance, b["box"])

    def test_handles_of_another_kind_are_refused(self):
        w = world()
        box, steel, joint = w["box"], w.add_material("steel"), w.add_joint("weld", None, w["box"], (0, 0, 0))
        of_bodies = (lambda x: w.add_joint("ball", x, box, (0, 0, 0)), lambda x: w.ignore_pair(x, box), box.distance,
                     lambda x: w.add_soft(tribo.solid_box((1, 1, 1), (1, 1, 1)), pins=[([0], x)]))
        of_materials = (lambda x: w.add_body(material=x), box.set_material, lambda x: w.set_pair(x, steel, 0.5))
        for uses, kind, other in ((of_bodies, "tribo.Body", steel), (of_materials, "tribo.Material", box)):
            for use in uses:
                for wrong in ("steel", 3, {}, joint, other):
                    self.assertRaisesRegex(TypeError, f"expected a {kind}", use, wrong)


class Sequences(unittest.TestCase):
    def test_sequences_that_lie_or_change_the_world(self):
        class Lies:
            def __len__(self): return 3
            def __getitem__(self, i): raise IndexError
        class Huge:
            def __len__(self): return 1 << 62
            def __getitem__(self, i): return 0.0
        w = world()
        class Closes:
            def __len__(self): return 3
            def __getitem__(self, i):
                w.close()
                return 0.0
        self.assertRaises((IndexError, TypeError, ValueError), w["box"].apply, Lies())
        self.assertRaises((ValueError, MemoryError, TypeError), w["box"].apply, Huge())
        self.assertRaises((ValueError, MemoryError, TypeError), tribo.convex, Huge())
        box = w["box"]
        self.assertRaises((tribo.ArgumentError, TypeError), box.apply, Closes())
        w = world()
        self.assertRaises((tribo.ArgumentError, TypeError), setattr, w["box"], "position", Closes())
        w = world()
        class Shapes(Closes):
            def __getitem__(self, i):
                w.close()
                return tribo.sphere(1)
        self.assertRaises(tribo.ArgumentError, w.add_body, Shapes())

    def test_a_world_that_closes_while_its_arguments_are_read(self):
        class Number:
            def __init__(self, do): self.do = do
            def __float__(self):
                self.do()
                return 0.1
        def made():
            w = tribo.World()
            b = w.add_body(tribo.box((1, 1, 1)), name="box")
            w.add_joint("hinge", None, b, (0, 0, 0), servo=(0, 1, 1, 1), name="j")
            return w
        for use in (lambda w, x: w.joint("j").follow([[0, 0], [1, x]]), lambda w, x: w.joint("j").follow_effort([[0, x]]),
                    lambda w, x: w.overlaps(x), lambda w, x: w["box"].apply((x, 0, 0)), lambda w, x: w["box"].set_friction(x),
                    lambda w, x: w["box"].set_restitution(x), lambda w, x: w["box"].set_mass(1, (1, 1, 1, 0, 0, x)),
                    lambda w, x: w.ray((x, 0, 0), (0, 0, 1)), lambda w, x: w.joint("j").set_limits(x, 2),
                    lambda w, x: w.joint("j").set_servo(x), lambda w, x: w.add_body(tribo.sphere(1), restitution=x),
                    lambda w, x: w.add_joint("ball", None, w["box"], (0, 0, 0), limits=(x, 1)),
                    lambda w, x: w.add_material("m", friction={"mu": x}), lambda w, x: w["box"].set_motion([[x] * 8])):
            w = made()
            self.assertRaises(tribo.ArgumentError, use, w, Number(w.close))
        w = made()  # of which nothing is left for a second one
        self.assertRaises(tribo.ArgumentError, w.__init__)
        w.close()
        self.assertRaises(tribo.ArgumentError, w.__init__)
        self.assertTrue(w.closed)

    def test_dicts_that_change_while_they_are_read(self):
        w = world()
        for key in ("mu", "direction", "matrix"):
            friction = {"mu": 0.5, "model": "tensor"} if key != "mu" else {}
            class Number:
                def __float__(self):
                    friction.clear()
                    return 1.0
            friction[key] = {"mu": Number(), "direction": (Number(), 0, 0), "matrix": ((Number(), 0), (0, 1))}[key]
            self.assertRaises(ValueError, w["box"].set_friction, friction)

    def test_buffers_without_strides(self):
        import ctypes
        w = world()
        w["box"].position = (ctypes.c_double * 3)(1, 2, 3)
        np.testing.assert_array_equal(w["box"].position, [1, 2, 3])
        w["box"].position = (ctypes.c_int16 * 3)(3, 2, 1)
        np.testing.assert_array_equal(w["box"].position, [3, 2, 1])
        hull = tribo.convex((ctypes.c_float * 3 * 4)((0, 0, 0), (6, 0, 0), (0, 1, 0), (0, 0, 1)))
        self.assertAlmostEqual(hull.mass(1)[0], 1)
        for bad in ((ctypes.c_double * 4)(), (ctypes.c_char * 3)(), (ctypes.c_wchar * 3)(), (ctypes.c_void_p * 3)(), (ctypes.c_double.__ctype_be__ * 3)(),
                    ctypes.c_double(1), (ctypes.c_double * 0)(), (ctypes.c_longdouble * 3)()):
            with self.assertRaises((TypeError, ValueError), msg=repr(bad)):
                w["box"].position = bad


class Threads(unittest.TestCase):
    def test_a_world_in_a_batch_is_its_callbacks_alone(self):
        import threading
        w, other = world(), world()
        seen = []

        def attempt():
            for use in (w.step, w.close, lambda: w.positions, lambda: tribo.batch([w])):
                try:
                    use()
                except RuntimeError as error:
                    seen.append(str(error))
        @w.before_step
        def callback(world):
            thread = threading.Thread(target=attempt)
            thread.start()
            thread.join()
            self.assertRaises(RuntimeError, tribo.batch, [w])
            if world.steps == 0:
                world.remove_callback(callback)
                world.step()  # its own thread may
                world.before_step(callback)
        tribo.batch([w, other], steps=2, threads=2)
        self.assertEqual(len(seen), 8)
        self.assertEqual(w.steps, 3)
        self.assertFalse(w.closed)
        w.before_step(lambda world: world.close())
        with self.assertRaisesRegex(tribo.ArgumentError, "closed"):
            tribo.batch([w, other], threads=2)
        self.assertTrue(w.closed)
        other.step()


if __name__ == "__main__":
    unittest.main()
