# SPDX-License-Identifier: Apache-2.0
"""Every function that takes arrays, by the stub's own list: what holds the same numbers another way does the same, what holds
others raises, on a closed world, too; and every function with everything in every place raises what it should, or works."""
import ast
import ctypes
import os
import random
import tempfile
import unittest
import warnings

import numpy as np
import tribo

HERE = os.path.dirname(os.path.abspath(__file__))
REFUSED = (TypeError, ValueError, OverflowError, MemoryError, tribo.Error)

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
KEYS = np.array([[0, 0, 0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0, 0, 0.0]])
TURNS = np.array([[0, 0.0], [1, 2.0]])
LOADS = np.array([[0, 1, 2, 3, 4, 5, 6], [1, 0, 0, 0, 0, 0, 0.0]])
MOVING = np.array([CORNERS, CORNERS + 0.1]).reshape(2, 12)
V, Q = np.array([0.1, 0.2, 0.3]), np.array([0.8, 0.6, 0, 0])


def make():
    """One of everything."""
    w = tribo.World(scheme="implicit")
    stone = w.add_material("stone", density=2000)
    w.add_body(tribo.plane(), motion="fixed", name="floor", material=stone)
    box = w.add_body(tribo.box((1, 1, 1)), name="box", position=(0, 0, 3))
    other = w.add_body(tribo.sphere(0.5), name="ball", position=(5, 0, 3))
    w.add_body(tribo.sphere(0.5), name="driven", position=(9, 0, 3), motion="kinematic")
    w.add_joint("hinge", None, box, (0, 0, 3), name="hinge", servo=(0, 1, 1, 9))
    w.add_soft(tribo.solid_box((1, 1, 1), (1, 1, 1)), (0, 5, 3), name="soft")
    w.add_reduced(tribo.solid_box((1, 1, 1), (1, 1, 1)), 2, (0, 9, 3), name="reduced")
    w.add_animated(FACES, [0.0, 1.0], MOVING.reshape(2, -1), (0, 12, 3), name="animated")
    return w


PROBLEM = tribo.Problem.generate("stack", size=2)
ROWS = np.linspace(0.1, 1, PROBLEM.rows)
A2, J2, W2 = np.eye(6) * 2, np.eye(6), np.eye(6)


# name in the stub → (call, arrays); arrays that may have any length carry the mark "any", "empty" if even none. Without a case:
# what takes paths, worlds or names, or may take long.
CASES = {
    "sphere": None, "plane": (lambda w, n: tribo.plane(n), [V]), "box": (lambda w, s: tribo.box(s).mass(1.0), [V]),
    "convex": (lambda w, p: tribo.convex(p).mass(1.0), [(CORNERS, "any")]),
    "mesh": (lambda w, v, t: tribo.mesh(v, t).mass(1.0), [(CORNERS, "any"), (FACES, "any")]),
    "solid": (lambda w, n, t: tribo.solid(n, t).nodes, [(CORNERS, "any"), np.array([[0, 1, 2, 3]])]),
    "solid_box": (lambda w, s: tribo.solid_box(s, (1, 1, 1)).nodes, [V]),
    "load_convex": None, "load_mesh": None, "solid_load": None, "gradient": None, "optimize": None, "batch": None,
    "Shape.at": (lambda w, x, q: tribo.box((1, 2, 3)).at(x, q).mass(1.0), [V, Q]),
    "Body.set_mass": (lambda w, i: w["box"].set_mass(2.0, i), [np.array([1, 1, 1, 0.1, 0, 0])]),
    "Body.position": (lambda w, x: setattr(w["box"], "position", x), [V]),
    "Body.orientation": (lambda w, x: setattr(w["box"], "orientation", x), [Q]),
    "Body.velocity": (lambda w, x: setattr(w["box"], "velocity", x), [V]),
    "Body.angular_velocity": (lambda w, x: setattr(w["box"], "angular_velocity", x), [V]),
    "Body.set_nodes": (lambda w, x, v: w["soft"].set_nodes(x, v), [np.random.default_rng(1).random((8, 3)) * 0.1 + tribo.solid_box((1, 1, 1), (1, 1, 1)).nodes, np.ones((8, 3))]),
    "Body.set_modes": (lambda w, x, v: w["reduced"].set_modes(x, v), [np.array([0.01, 0.02]), np.array([0.1, 0.2])]),
    "Body.apply": (lambda w, f, t, at: w["box"].apply(f, t, at), [V, V, V]),
    "Body.apply_nodes": (lambda w, f: w["soft"].apply_nodes(f), [np.ones((8, 3))]),
    "Body.pin": (lambda w, n, v, o, k: w["soft"].pin(n, None, v, o, k), [(np.array([0, 1]), "empty"), V, V, (KEYS, "empty")]),
    "Body.unpin": (lambda w, n: (w["soft"].pin([0, 1, 2]), w["soft"].unpin(n)), [(np.array([0, 1]), "empty")]),
    "Body.set_motion": (lambda w, k: w["driven"].set_motion(k), [(KEYS, "empty")]),
    "Body.set_load": (lambda w, k, f, t: (w["box"].set_load(force=f, torque=t), w["box"].set_load(k)), [(LOADS, "empty"), V, V]),
    "Body.grip": (lambda w, x: w["box"].grip(x).point, [V]), "Body.nearest": (lambda w, x: w["ball"].nearest(x).distance, [V]),
    "Solid.rotate": (lambda w, q: tribo.solid_box((1, 1, 1), (1, 1, 1)).rotate(q), [Q]),
    "Replay.image": None, "load_point_cache": None, "Grip.__init__": None, "World.frictions": None,
    "ccd": (lambda w, a, b: tribo.ccd(a, b), [CORNERS, CORNERS + 0.1]),
    "Body.set_frames": (lambda w, t, v: w["animated"].set_frames(t, v), [np.array([0.0, 1.0]), MOVING]),
    "Body.move_to": (lambda w, x, q: w["driven"].move_to(x, q, 0.5), [V, Q]),
    "Joint.follow": (lambda w, k: w.joint("hinge").follow(k), [(TURNS, "empty")]),
    "Joint.follow_effort": (lambda w, k: w.joint("hinge").follow_effort(k), [(TURNS, "empty")]),
    "World.__init__": (lambda w, g: tribo.World(gravity=g).gravity, [V]),
    "World.gravity": (lambda w, g: setattr(w, "gravity", g), [V]),
    "World.add_texture": (lambda w, n: w.add_texture(n), [(np.dstack([np.zeros((4, 4)), np.zeros((4, 4)), np.ones((4, 4))]), "any")]),
    "World.add_field": (lambda w, p, d: w.add_field(p, d), [CORNERS, np.tile([1.0, 0, 0], (4, 1))]),
    "World.add_direction_map": (lambda w, d: w.add_direction_map(d), [(np.dstack([np.ones((4, 4)), np.zeros((4, 4))]), "any")]),
    "World.add_chart": (lambda w, c, t: w.add_chart(c, t), [CORNERS[FACES].reshape(-1, 3), np.tile([[0, 0], [1, 0], [0, 1.0]], (4, 1))]),
    "World.load_chart": None,
    "World.add_body": (lambda w, x, q, i, v, o, c: w.add_body(tribo.sphere(0.1), x, q, mass=1.0, inertia=i, velocity=v, angular_velocity=o, centre_of_mass=c),
                       [V, Q, np.array([1, 1, 1, 0.1, 0, 0]), V, V, V]),
    "World.add_body ": (lambda w, k: w.add_body(tribo.sphere(0.1), motion="kinematic", keys=k), [(KEYS, "empty")]),
    "World.add_soft": (lambda w, x, q, v, o: w.add_soft(tribo.solid_box((1, 1, 1), (1, 1, 1)), x, q, velocity=v, angular_velocity=o), [V, Q, V, V]),
    "World.add_reduced": (lambda w, x, q, v, o: w.add_reduced(tribo.solid_box((1, 1, 1), (1, 1, 1)), 2, x, q, velocity=v, angular_velocity=o), [V, Q, V, V]),
    "World.add_cloth": (lambda w, x, q, v, o: w.add_cloth(((1, 1), (2, 2)), x, q, velocity=v, angular_velocity=o), [V, Q, V, V]),
    "World.add_animated": (lambda w, f, t, n, x, q, v, o: w.add_animated(f, t, n, x, q, velocity=v, angular_velocity=o),
                           [(FACES, "any"), np.array([0.0, 1.0]), MOVING, V, Q, V, V]),
    "World.add_joint": (lambda w, x, a: w.add_joint("hinge", w["ball"], w["driven"], x, a), [V, V]),
    "World.add_joint ": (lambda w, x, b: w.add_joint("distance", w["ball"], w["driven"], x, anchor_b=b), [V, -V]),
    "World.ray": (lambda w, x, d: w.ray(x, d), [V, V]), "World.ray_all": (lambda w, x, d: w.ray_all(x, d), [V, V]),
    "World.rays": (lambda w, x, d: w.rays(x, d).distance, [CORNERS, CORNERS + 1]), "World.nearest": (lambda w, x: w.nearest(x, 10), [V]),
    "World.overlap": (lambda w, a, b: [x.name for x in w.overlap(a, b)], [-V, V]),
    "Problem.from_delassus": (lambda w, W, q, mu, c: tribo.Problem.from_delassus(W, q, mu, compliance=c).W, [W2, -np.ones(6), (np.array([0.5, 0.4]), "any"), np.full(6, 0.01)]),
    "Problem.from_metric": (lambda w, A, J, b, mu, v: tribo.Problem.from_metric(A, J, b, mu, v).W, [A2, J2, -np.ones(6), (np.array([0.5, 0.4]), "any"), np.ones(6)]),
    "Problem.generate": None, "Problem.solve": (lambda w, x: PROBLEM.solve("bgs", start=x, iterations=3).impulses, [ROWS]),
    "Problem.compare": None,
    "Problem.judge": (lambda w, x: PROBLEM.judge(x), [ROWS]), "Problem.judge_contacts": (lambda w, x: PROBLEM.judge_contacts(x), [ROWS]),
    "Problem.contact_velocities": (lambda w, x: PROBLEM.contact_velocities(x), [ROWS]),
    "Problem.velocities": (lambda w, x: PROBLEM.velocities(x), [ROWS]),
    "Workspace.update": (lambda w, b, v, p, c: PROBLEM.workspace().update(bias=b, v_free=v, params=p, compliance=c),
                         [PROBLEM.bias * 1, PROBLEM.v_free * 1, PROBLEM.params * 1, np.full(PROBLEM.rows, 0.01)]),
    "Workspace.solve": (lambda w, x: PROBLEM.workspace().solve("bgs", start=x, iterations=3).impulses, [ROWS]),
}
def listed():
    """The functions of the stub that take a vector, an array, a matrix or a sequence."""
    with open(os.path.join(HERE, "..", "..", "python", "tribo", "__init__.pyi")) as file:
        tree = ast.parse(file.read())
    words = {"Vector", "ArrayLike", "Matrix", "Sequence", "Iterable"}
    for node in tree.body:
        for item, name in [(node, "")] if isinstance(node, ast.FunctionDef) else [(i, node.name + ".") for i in getattr(node, "body", ()) if isinstance(i, ast.FunctionDef)]:
            a = item.args
            said = {n.id for arg in a.args + a.kwonlyargs if arg.annotation for n in ast.walk(arg.annotation) if isinstance(n, ast.Name)}
            if said & words:
                yield name + item.name


def same(x):
    """The numbers of x, otherwise: strides, order, types, owners."""
    wide = np.zeros([2 * n + 1 for n in x.shape], x.dtype)
    wide[tuple(slice(1, None, 2) for _ in x.shape)] = x
    back = tuple(slice(None, None, -1) for _ in x.shape)
    frozen = x.copy()
    frozen.flags.writeable = False
    odd = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape)  # not aligned
    yield from (wide[tuple(slice(1, None, 2) for _ in x.shape)], x[back].copy()[back], np.asfortranarray(x), frozen, odd, x.tolist(),
                np.broadcast_to(x, (2, *x.shape))[1], memoryview(np.ascontiguousarray(x)), np.ma.masked_array(x))
    if x.dtype.kind == "i":
        yield from (x.astype(np.int32), x.astype(np.uint64), x.astype(np.uint8), x.astype(np.int16))


def other(x, mark):
    """What is not such numbers."""
    yield from ("abc", b"abc", {"a": 1}, object(), 3j, x.astype(complex), x.astype("S8"), x.astype("datetime64[s]") if x.dtype.kind == "i" else x.astype(str),
                x[None, None], np.full(x.shape, None), np.full(x.shape, 10 ** 400), np.zeros((1,) * 30),
                np.zeros(x.shape, [("a", float), ("b", float)]), lambda: x, type, [x.tolist(), [x.tolist()]], [x.astype(complex)[0], *x[1:]])
    released = memoryview(np.ascontiguousarray(x))
    released.release()
    yield released
    if mark != "empty":
        yield from (np.zeros((0,) * x.ndim), np.zeros((0, 3, 0, 2)), iter(()), memoryview(b""), [])
    if x.dtype.kind == "f":
        for bad in (np.nan, np.inf, -np.inf):
            broken = x.copy()
            broken.flat[-1] = bad
            yield from (broken, broken.astype(np.float32), broken.tolist())
    else:
        yield from (x + 0.5, x + 2 ** 40, x - 100, x.astype(np.uint64) + np.uint64(2 ** 63))
    if not mark:
        yield from (x[:-1], np.concatenate([x, x[-1:]]))
    if x.ndim > 1:
        yield from (x[..., :-1], x.T if x.shape[0] != x.shape[-1] else x[0])
        if x.ndim == 2:
            yield x[:, 0]


def numbers(result):
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        return [numbers(r) for r in result]
    return np.asarray(result).tolist() if isinstance(result, (np.ndarray, list)) else result if isinstance(result, (float, int, str)) else None


class Arrays(unittest.TestCase):
    def cases(self):
        for name, case in CASES.items():
            if case:
                call, given = case
                plain = [g[0] if isinstance(g, tuple) else g for g in given]
                yield name, call, plain, [g[1] if isinstance(g, tuple) else "" for g in given]

    def test_the_list_is_whole(self):
        self.assertEqual(set(listed()) - set(CASES), set())

    def test_the_same_numbers_do_the_same(self):
        for name, call, given, _ in self.cases():
            w = make()
            wanted = numbers(call(w, *given)), w.hash
            for i, x in enumerate(given):
                for k, y in enumerate(same(x)):
                    with self.subTest(f"{name}, argument {i}, way {k}"):
                        w = make()
                        got = call(w, *given[:i], y, *given[i + 1:])
                        self.assertEqual((numbers(got), w.hash), wanted)

    def test_other_numbers_raise_and_change_nothing(self):
        before = make().hash
        for name, call, given, marks in self.cases():
            w = make()
            for i, x in enumerate(given):
                for k, y in enumerate(other(x, marks[i])):
                    with self.subTest(f"{name}, argument {i}, number {k}: {repr(y)[:60]}"):
                        try:
                            got = call(w, *given[:i], y, *given[i + 1:])
                        except REFUSED:
                            if name != "Body.unpin":  # which pins beforehand
                                self.assertEqual(w.hash, before)
                        else:
                            w = make()
                            self.fail(f"taken: {got}")

    def test_a_closed_world_raises(self):
        for name, call, given, _ in self.cases():
            if name.split(".")[0] in ("World", "Body", "Joint") and name != "World.__init__":
                w = make()
                w.close()
                with self.subTest(name):
                    self.assertRaises(tribo.ArgumentError, call, w, *given)
        w = make()
        things = [w["box"], w["soft"], w.joint("hinge"), w.material("stone"), w]
        w.close()
        for thing in things:
            for name in dir(type(thing)):
                if name.startswith("_") or not isinstance(getattr(type(thing), name), property) or name in ("name", "world", "id"):
                    continue
                with self.subTest(f"{type(thing).__name__}.{name}"):
                    self.assertRaises(tribo.ArgumentError, getattr, thing, name)


# In every place of every function.
ANYTHING = [None, True, 0, 1, -1, 2, 1 << 31, -1 << 31, 1 << 63, 1 << 200, 0.0, -0.0, 0.5, -1e308, 1e308, 5e-324, float("nan"), float("inf"), 1j, "", "box",
            "soft", "a\0b", "\ud800", "x" * 100000, b"box", b"", [], (), {}, set(), [[]], [None], [1, 2, 3], (0, 0, 1), [1, 0, 0, 0], [1e308] * 3, [[1, 2], [3]],
            range(3), np.zeros(3), np.ones((4, 3)), np.zeros((0, 3)), np.eye(6), np.arange(8), np.full(3, np.nan), object, type, len, iter([1]), Ellipsis, ctypes.c_double(1),
            {"a": 1}, {1: 2}, {"mu": -1}, lambda *a: None, Exception(), tribo, os]
SLOW = {"step", "run", "batch", "show", "gradient", "optimize", "__init__", "gallery"}  # a number of them may be a long time


class Anything(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.home = os.getcwd()
        os.chdir(self.folder.name)  # where "box" is a path that may be written

    def tearDown(self):
        os.chdir(self.home)
        self.folder.cleanup()

    def targets(self, w):
        yield from ((tribo, name) for name in dir(tribo) if not name.startswith("_") and callable(getattr(tribo, name)) and not isinstance(getattr(tribo, name), type))
        for thing in (w, w["box"], w["soft"], w["reduced"], w["animated"], w["driven"], w.joint("hinge"), w.material("stone"), PROBLEM, PROBLEM.workspace(),
                      tribo.box((1, 1, 1)), tribo.Problem, tribo.World):
            yield from ((thing, name) for name in dir(thing) if not name.startswith("_") and name not in ("close", "remove"))

    def test_everything_everywhere(self):
        warnings.simplefilter("ignore")  # of numpy, for arrays in place of paths and flags
        self.addCleanup(warnings.resetwarnings)
        rng = random.Random(int(os.environ.get("TRIBO_SEED", "1")))
        w = make()
        things = ANYTHING + [w, w["box"], w["soft"], w.joint("hinge"), w.material("stone"), PROBLEM, tribo.sphere(1), tribo.solid_box((1, 1, 1), (1, 1, 1)), w.snapshot()]
        for thing, name in list(self.targets(w)):
            if name in SLOW:
                continue
            for _ in range(12):
                given = [rng.choice(things) for _ in range(rng.randint(0, 4))]
                try:
                    if callable(getattr(thing, name)):
                        getattr(thing, name)(*given)
                    elif not isinstance(thing, type) and name not in ("id", "world"):
                        setattr(thing, name, given[0] if given else None)
                except (REFUSED + (AttributeError, KeyError, IndexError, UnicodeError)):
                    pass
            if w.closed:
                self.fail(f"{name} closed the world")
        try:
            w.step()
        except REFUSED:  # velocities of 1e308, callbacks that are none
            pass
        self.assertEqual(len(w.positions), len(w.bodies))


if __name__ == "__main__":
    unittest.main()
