# SPDX-License-Identifier: Apache-2.0
"""Robots' files against other readers of them: for URDF one of a page, written here from its specification, and Debian's
urdfdom; for MJCF, Debian's MuJoCo. Masses, centres, inertias, poses and forward kinematics at random angles agree to 1e-9
on the models of ../shared/robots and on 200 generated ones of each."""
import glob
import os
import random
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import numpy as np
import tribo

HERE = os.path.dirname(os.path.abspath(__file__))
ROBOTS = os.path.join(HERE, "..", "..", "..", "shared", "robots")


def numbers(text):
    return np.array([float(x) for x in text.split()])


def origin(node):
    o = node.find("origin") if node is not None else None
    xyz = numbers(o.get("xyz", "0 0 0")) if o is not None else np.zeros(3)
    r, p, y = numbers(o.get("rpy", "0 0 0")) if o is not None else np.zeros(3)
    c, s = np.cos, np.sin
    R = (np.array([[c(y), -s(y), 0], [s(y), c(y), 0], [0, 0, 1]]) @ np.array([[c(p), 0, s(p)], [0, 1, 0], [-s(p), 0, c(p)]])
         @ np.array([[1, 0, 0], [0, c(r), -s(r)], [0, s(r), c(r)]]))
    return R, xyz


def read_urdf(path):
    """{link: (R, x, mass, centre, inertia)} with all joints at zero."""
    root = ElementTree.parse(path).getroot()
    joints = [(j.find("parent").get("link"), j.find("child").get("link"), origin(j)) for j in root.findall("joint")]
    links = {l.get("name"): l for l in root.findall("link")}
    children = {child for _, child, _ in joints}
    place = {name: (np.eye(3), np.zeros(3)) for name in links if name not in children}
    while len(place) < len(links):
        for parent, child, (R, x) in joints:
            if parent in place and child not in place:
                P, p = place[parent]
                place[child] = (P @ R, p + P @ x)
    found = {}
    for name, link in links.items():
        inertial = link.find("inertial")
        mass, centre, I = 0.0, np.zeros(3), np.zeros((3, 3))
        if inertial is not None:
            R, centre = origin(inertial)
            i = {k: float(v) for k, v in inertial.find("inertia").attrib.items()}
            mass = float(inertial.find("mass").get("value"))
            I = R @ np.array([[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]]) @ R.T
        found[name] = (*place[name], mass, centre, I)
    return found


def matrix(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def full(i):
    return np.array([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]])


def ask(oracle, files, *words):
    """What an oracle says of each file: ({body: (R, x, mass, centre, inertia)}, {joint: coordinate},
    {joint: acceleration}), or why it reads none."""
    out = subprocess.run([oracle, *words, *files], capture_output=True, text=True, check=True, cwd=tempfile.gettempdir()).stdout
    found = []
    for line in out.splitlines():
        name, *v = line.split()
        if name == "!":
            found.append(line)
        elif name == "=":
            found.append(({}, {}, {}))
        elif name == ":":
            found[-1][1][v[0]] = float(v[1])
        elif name == "^":
            found[-1][2][v[0]] = float(v[1])
        else:
            v = np.array([float(x) for x in v])
            found[-1][0][name] = (matrix(v[13:17]), v[10:13], v[0], v[1:4], full(v[4:10]))
    assert len(found) == len(files), out
    return found


class Oracles(unittest.TestCase):
    """Other programs that read the same files, compiled where their libraries are there."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.mujoco = cls.build("mujoco_oracle.c", "cc", "/usr/include/mujoco/mujoco.h", ["-lmujoco"])
        cls.urdfdom = cls.build("urdfdom_oracle.cpp", "g++", "/usr/include/urdf_parser/urdf_parser.h",
                                ["-lurdfdom_model", "-lurdfdom_world", "-ltinyxml"])

    @classmethod
    def build(cls, source, compiler, header, libraries):
        if not os.path.exists(header) or not shutil.which(compiler):
            return None
        oracle = os.path.join(cls.folder.name, source.split("_")[0])
        run = subprocess.run([compiler, os.path.join(HERE, source), *libraries, "-o", oracle], capture_output=True, text=True)
        if run.returncode:
            run = subprocess.run(f"{compiler} {os.path.join(HERE, source)} $(pkg-config --cflags --libs urdfdom) -o {oracle}", shell=True,
                                 capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return oracle

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def write(self, texts, ending):
        paths = [os.path.join(self.folder.name, f"{i}.{ending}") for i in range(len(texts))]
        for path, text in zip(paths, texts):
            with open(path, "w") as file:
                file.write(text)
        return paths


class Import(Oracles):
    def setUp(self):
        try:
            tribo.import_robot("/dev/null")
        except tribo.UnsupportedError:
            self.skipTest("built without expat")
        except tribo.Error:
            pass

    def close(self, a, b, within, what):
        if not (np.abs(np.asarray(a) - b) <= within).all():
            self.fail(f"{what}: {a} and {b}")

    def agree(self, scene, other, notes, what, axes=1e-9, mass=1e-9):
        """axes: of inertias, whose principal axes MuJoCo iterates for; the moments themselves agree to `mass`, as masses and
        centres do."""
        within = mass
        bodies = {b["name"]: b for b in scene["bodies"]}
        for name, (R, x, mass, centre, inertia) in other.items():
            if name not in bodies:
                self.assertEqual(mass, 0, f"{what}: {name} is gone")
                continue
            b = bodies[name]
            self.close(b["position"], x, 1e-9, f"{what}: position of {name}")
            self.close(matrix(b["orientation"]), R, 1e-9, f"{what}: orientation of {name}")
            if "mass" not in b or any(f'"{name}" is not positive definite' in n for n in notes):
                continue
            self.assertAlmostEqual(b["mass"], mass, delta=within * mass, msg=f"{what}: {name}")
            self.close(b["centre_of_mass"], centre, within, f"{what}: centre of mass of {name}")
            size = max(1e-3, np.abs(inertia).max())
            self.close(full(b["inertia"]), inertia, axes * size, f"{what}: inertia of {name}")
            self.close(np.linalg.eigvalsh(full(b["inertia"])), np.linalg.eigvalsh(inertia), within * size, f"{what}: moments of {name}")

    def test_urdf_models_agree(self):
        files = glob.glob(os.path.join(ROBOTS, "urdf", "**", "*.urdf"), recursive=True)
        if not files:
            self.skipTest("no ../shared/robots")
        for path in files:
            scene, notes = tribo.import_robot(path)
            self.agree(scene, read_urdf(path), notes, path)
            world = tribo.World.from_robot(path)
            np.testing.assert_allclose(world.positions, [b["position"] for b in scene["bodies"]], atol=1e-12)
            world.step(2)
            for note in notes:
                self.assertRegex(note, r"^[^:]+:\d+: ")

    def test_generated_urdf_agrees(self):
        rng = random.Random(5)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "robot.urdf")
            for case in range(200):
                with open(path, "w") as file:
                    file.write(generate(rng))
                scene, notes = tribo.import_robot(path)
                self.agree(scene, read_urdf(path), notes, f"case {case}")

    def test_urdf_agrees_with_urdfdom(self):
        """Models and 200 generated ones, at random angles and travels."""
        if not self.urdfdom:
            self.skipTest("no liburdfdom-dev")
        rng = random.Random(9)
        files = glob.glob(os.path.join(ROBOTS, "urdf", "**", "*.urdf"), recursive=True)
        files += self.write([generate(rng) for _ in range(200)], "urdf")
        for path, said in zip(files, ask(self.urdfdom, files)):
            self.assertIsInstance(said, tuple, path)
            scene, notes = tribo.import_robot(path, joints=said[1])
            self.agree(scene, said[0], notes, path)

    def test_mjcf_models_agree_with_mujoco(self):
        files = glob.glob(os.path.join(ROBOTS, "mjcf", "*", "*.xml"))
        if not files or not self.mujoco:
            self.skipTest("no ../shared/robots, or no libmujoco-dev")
        read = 0
        copies = []  # without what is newer than Debian's MuJoCo
        for path in files:
            with open(path) as file:
                text = re.sub(r' (dampratio|inheritrange|texture)="[^"]*"|<texture[^>]*/>', "", file.read().replace("implicitfast", "implicit"))
            if "autolimits" not in text:
                text = text.replace("<compiler ", '<compiler autolimits="true" ')
            copies.append(re.sub(r'meshdir="', f'meshdir="{os.path.abspath(os.path.dirname(path))}/', text))
        for path, said in zip(files, ask(self.mujoco, self.write(copies, "xml"), "random")):
            tribo.World.from_robot(path).step(1)
            if isinstance(said, str):  # newer still, or a scene that includes one of the others
                continue
            scene, notes = tribo.import_robot(path, joints=said[1])
            read += 1
            given = {b.get("name") for b in ElementTree.parse(path).iter("body") if b.find("inertial") is not None}
            # masses of meshes depend on how each reads them
            self.agree(scene, {name: body for name, body in said[0].items() if name in given}, notes, path)
        self.assertGreaterEqual(read, 6)  # every model, of the hand both sides

    def test_generated_mjcf_agrees_with_mujoco(self):
        if not self.mujoco:
            self.skipTest("no libmujoco-dev")
        rng = random.Random(6)
        files = self.write([generate_mjcf(rng) for _ in range(200)], "xml")
        for path, said in zip(files, ask(self.mujoco, files, "random")):
            self.assertIsInstance(said, tuple, f"{path}: {said}")
            scene, notes = tribo.import_robot(path, joints=said[1])
            self.agree(scene, said[0], notes, path, axes=1e-5)

    def test_features_agree_with_mujoco(self):
        """Masses of meshes to what floats, in which MuJoCo keeps them, hold; the rest as ever."""
        if not self.mujoco:
            self.skipTest("no libmujoco-dev")
        rng = random.Random(8)
        files = self.write([generate_features(rng, self.folder.name, i) for i in range(60)], "xml")
        for path, said in zip(files, ask(self.mujoco, files, "random")):
            self.assertIsInstance(said, tuple, f"{path}: {said}")
            scene, notes = tribo.import_robot(path, joints=said[1])
            self.assertEqual(scene["gravity"], [0, 0, 0])
            self.agree(scene, said[0], notes, path, axes=1e-5, mass=1e-6)

    def test_masses_of_meshes_go_by_their_rules(self):
        """MuJoCo 3's legacy rule, of absolute tetrahedra, and shells; moments of a triangle by the midpoints of its edges, of a
        tetrahedron by four points of its own, both exact for squares."""
        rng = random.Random(4)
        for lid in (True, False):
            for rule in ("legacy", "shell"):
                v, f = write_mesh(os.path.join(self.folder.name, "m.obj"), rng, lid)
                path, = self.write([f'<mujoco><asset><mesh name="m" file="m.obj" inertia="{rule}"/></asset><worldbody><body name="b"><freejoint/>'
                                    '<geom type="mesh" mesh="m" density="3"/></body></worldbody></mujoco>'], "xml")
                scene, notes = tribo.import_robot(path)
                body = scene["bodies"][0]
                c = v[f]
                area = np.linalg.norm(np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]), axis=1) / 2
                centre = area @ c.mean(axis=1) / area.sum()
                points, weights = (c + np.roll(c, 1, axis=1)) / 2, np.repeat(area[:, None] / 3, 3, axis=1)
                for _ in range(2 if rule == "legacy" else 0):  # from the surface's centre, then from that of mass
                    t = np.concatenate([c, np.broadcast_to(centre, (len(f), 1, 3))], axis=1)
                    volume = np.abs(np.einsum("ij,ij->i", c[:, 0] - centre, np.cross(c[:, 1] - centre, c[:, 2] - centre))) / 6
                    points = 0.1381966011250105 * t.sum(axis=1, keepdims=True) + (0.5854101966249685 - 0.1381966011250105) * t
                    weights, middle = np.repeat(volume[:, None] / 4, 4, axis=1), centre
                    centre = volume @ t.mean(axis=1) / volume.sum()
                centre = centre if rule == "shell" else middle
                d, w = (points - centre).reshape(-1, 3), 3 * weights.ravel()
                inertia = (w * (d * d).sum(axis=1)).sum() * np.eye(3) - (w[:, None] * d).T @ d
                np.testing.assert_allclose(body["mass"], w.sum(), rtol=1e-12)
                np.testing.assert_allclose(body["centre_of_mass"], centre, atol=1e-12)
                np.testing.assert_allclose(full(body["inertia"]), inertia, atol=1e-9)

    def test_accelerations_agree_with_mujoco(self):
        """Of chains with rotors, springs and servos, from rest at random angles: masses, axes, armature and drives at once."""
        if not self.mujoco:
            self.skipTest("no libmujoco-dev")
        rng = random.Random(11)
        files = self.write([generate_chain(rng) for _ in range(50)], "xml")
        for path, said in zip(files, ask(self.mujoco, files, "random")):
            self.assertIsInstance(said, tuple, f"{path}: {said}")
            scene, notes = tribo.import_robot(path, joints=said[1])
            self.assertEqual(notes, [], path)
            world = tribo.World.from_dict(scene, dt=1e-5, stabilization="none", velocity_tolerance=1e-10)
            world.step()
            got = np.array([world.joint(name).speed / 1e-5 for name in said[2]])
            wanted = np.array(list(said[2].values()))
            self.close(got, wanted, 1e-4 * (1 + np.abs(wanted).max()), path)

    def test_drives_of_classes_and_keys_agree_with_mujoco(self):
        """All kinds of actuators are ways to write one law, each from where its classes have left it; a key has their controls."""
        if not self.mujoco:
            self.skipTest("no libmujoco-dev")
        rng = random.Random(17)
        files = self.write([generate_drives(rng) for _ in range(60)], "xml")
        efforts = 0
        for path, said in zip(files, ask(self.mujoco, files)):
            self.assertIsInstance(said, tuple, f"{path}: {said}")
            scene, notes = tribo.import_robot(path, key="start")
            for note in notes:
                self.assertRegex(note, "is its effort, .* for a control of 1: .* in the scene until")
            efforts += sum("effort" in joint for joint in scene["joints"])
            first = []  # accelerations over two steps: drives are taken at the end of a step, MuJoCo's where it starts
            for dt in (1e-5, 5e-6):
                world = tribo.World.from_dict(scene, dt=dt, stabilization="none", velocity_tolerance=1e-11)
                world.step()
                first.append(np.array([world.joint(name).speed / dt for name in said[2]]))
            got, wanted = 2 * first[1] - first[0], np.array(list(said[2].values()))
            self.close(got, wanted, 1e-4 * (1 + np.abs(wanted).max()), path)
        self.assertGreater(efforts, 20)

    def test_classes_that_nothing_has_are_no_notes(self):
        path, = self.write(['<mujoco><default><joint damping="1" axis="1 0 0"/><default class="idle"><geom friction="1 2 3"/><position kp="4"/>'
                            '<joint solreflimit="0.1 1"/></default></default><worldbody><body><joint axis="0 1 0" damping="2"/>'
                            '<geom size=".1"/></body></worldbody></mujoco>'], "xml")
        self.assertEqual(tribo.import_robot(path)[1], [])

    def test_what_a_file_lacks_is_named_with_its_line(self):
        path, = self.write(['<mujoco>\n<worldbody>\n<include file="arm.xml"/></worldbody></mujoco>'], "xml")
        with self.assertRaisesRegex(tribo.InputError, r':3: cannot read the included file "arm.xml"'):
            tribo.import_robot(path)
        path, = self.write(['<mujoco><worldbody><body name="b"><joint name="j"/><geom size=".1"/><site name="s"/></body></worldbody>\n'
                            '<actuator><motor site="s"/>\n<general name="g" body="b"/></actuator></mujoco>'], "xml")
        notes = tribo.import_robot(path)[1]
        self.assertIn(f"{path}:2: the <motor> acts on a site and is not in the scene", notes)
        self.assertIn(f'{path}:3: the <general> "g" acts on a body and is not in the scene', notes)

    def test_poses_of_keys_agree_with_mujoco(self):
        if not self.mujoco:
            self.skipTest("no libmujoco-dev")
        model = ('<mujoco><compiler angle="radian"/><worldbody><body name="base" pos="0 0 1"><freejoint/><geom size=".1"/>'
                 '<body name="a" pos=".3 0 0"><joint name="j" axis="0 1 0" ref="0.2" range="-1 2" limited="true"/>{}<geom size=".1" pos=".1 0 0"/>'
                 '<body name="b" pos=".2 0 0" {}><joint type="ball"/><geom size=".1" pos="0 .1 0"/></body></body></body></worldbody>'
                 '<actuator><position name="p" joint="j" kp="40" gear="2"/></actuator>'
                 '<keyframe><key name="home" qpos="1 2 3 .8 .6 0 0  0.7 {} .5 .5 .5 .5" ctrl="1.5"/></keyframe></mujoco>')
        with_slide = model.format('<joint name="s" type="slide" axis="1 0 0"/>', "", "0.4")
        path, flat = self.write([with_slide, ('<mujoco><compiler angle="radian"/><worldbody><body name="base" pos="1 2 3" quat=".8 .6 0 0"><geom size=".1"/>'
                                 '<body name="a" pos=".3 0 0"><joint name="j" axis="0 1 0" ref="0.2"/><joint name="s" type="slide" axis="1 0 0"/><geom size=".1" pos=".1 0 0"/>'
                                 '<body name="b" pos=".2 0 0" quat=".5 .5 .5 .5"><geom size=".1" pos="0 .1 0"/></body></body></body></worldbody></mujoco>')], "xml")
        scene, _ = tribo.import_robot(path, key="home")
        other, _ = tribo.import_robot(flat, joints={"j": 0.7, "s": 0.4})
        bodies = {b["name"]: b for b in other["bodies"]}
        for b in scene["bodies"]:
            if b["name"] in bodies:
                np.testing.assert_allclose(b["position"], bodies[b["name"]]["position"], atol=1e-12)
                np.testing.assert_allclose(matrix(b["orientation"]), matrix(bodies[b["name"]]["orientation"]), atol=1e-12)
        joint = next(j for j in scene["joints"] if j.get("name") == "j")
        np.testing.assert_allclose(joint["limits"], [-1 - 0.7, 2 - 0.7], atol=1e-12)  # from where it starts
        np.testing.assert_allclose([joint["servo"]["target"], joint["servo"]["stiffness"]], [1.5 / 2 - 0.7, 160], atol=1e-12)
        with self.assertRaisesRegex(tribo.ArgumentError, 'there is no <key> "away"'):
            tribo.import_robot(path, key="away")
        with self.assertRaisesRegex(tribo.ArgumentError, 'no hinge or slider "elbow"'):
            tribo.import_robot(path, joints={"elbow": 1.0})

    def test_a_scene_file_names_its_meshes_from_where_it_lies(self):
        path = os.path.join(ROBOTS, "urdf", "bolt_description", "robots", "bolt.urdf")
        if not os.path.exists(path):
            self.skipTest("no ../shared/robots")
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "bolt.json")
            scene, _ = tribo.import_robot(path, scene=out)
            files = [s["file"] for b in scene["bodies"] for s in b.get("shapes", ()) if "file" in s]
            self.assertTrue(files)
            for file in files:
                self.assertTrue(os.path.isfile(os.path.join(folder, file)), file)
            self.assertEqual(len(tribo.World.load(out).bodies), len(scene["bodies"]))


def vector(rng, scale=1.0):
    return " ".join(f"{rng.uniform(-scale, scale):.17g}" for _ in range(3))


def generate(rng):
    """A random tree of links with random frames."""
    text = '<robot name="random">'
    for i in range(rng.randint(2, 12)):
        a, b, c = (rng.uniform(0.5, 1) for _ in range(3))  # the triangle inequality holds
        text += (f'<link name="l{i}"><inertial><origin xyz="{vector(rng)}" rpy="{vector(rng, 3)}"/><mass value="{rng.uniform(0.1, 9)}"/>'
                 f'<inertia ixx="{a}" iyy="{b}" izz="{c}" ixy="{0.1 * a * rng.random()}" ixz="0" iyz="{-0.1 * b * rng.random()}"/></inertial></link>')
        if i:
            kind = rng.choice(["revolute", "continuous", "prismatic", "fixed"])
            text += (f'<joint name="j{i}" type="{kind}"><parent link="l{rng.randrange(i)}"/><child link="l{i}"/>'
                     f'<origin xyz="{vector(rng)}" rpy="{vector(rng, 3)}"/><axis xyz="{vector(rng)}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>')
    return text + "</robot>"


def generate_mjcf(rng):
    """A random tree of bodies, frames in every notation, masses given or from geoms of every kind."""
    turns = [lambda: f'euler="{vector(rng, 90)}"', lambda: f'quat="{vector(rng)} 0.5"', lambda: f'axisangle="{vector(rng)} {rng.uniform(-180, 180)}"',
             lambda: f'zaxis="{vector(rng)}"', lambda: f'xyaxes="{vector(rng)} {vector(rng)}"', lambda: ""]
    size = lambda n: " ".join(f"{rng.uniform(0.05, 0.4)}" for _ in range(n))
    geoms = [lambda: f'type="sphere" size="{size(1)}"', lambda: f'type="box" size="{size(3)}"', lambda: f'type="capsule" size="{size(2)}"',
             lambda: f'type="cylinder" size="{size(2)}"', lambda: f'type="ellipsoid" size="{size(3)}"',
             lambda: f'type="capsule" size="{size(1)}" fromto="{vector(rng)} {vector(rng)}"', lambda: f'type="cylinder" size="{size(1)}" fromto="{vector(rng)} {vector(rng)}"',
             lambda: f'type="box" size="{size(1)}" fromto="{vector(rng)} {vector(rng)}"']
    count = [0]

    joints = [0]

    def joint():
        joints[0] += 1
        name = f'name="j{joints[0]}"'
        return rng.choice([f'<joint {name} axis="{vector(rng)}" pos="{vector(rng)}" range="-30 40"/>',
                           f'<joint {name} class="odd" axis="{vector(rng)}" ref="{rng.uniform(-1, 1)}" springref="0.2"/>',
                           f'<joint {name} type="slide" axis="{vector(rng)}" pos="{vector(rng)}"/>'])

    def body(depth):
        count[0] += 1
        inner = rng.choice(["", "", 'childclass="heavy"', 'childclass="inner"'])
        text = f'<body name="b{count[0]}" pos="{vector(rng)}" {rng.choice(turns)()} {inner}>'
        text += rng.choice([lambda: "", joint, joint, lambda: joint() + joint(), lambda: joint() + joint() + joint(), lambda: '<joint type="ball"/>'])()
        if rng.random() < 0.4:
            a, b, c = (rng.uniform(0.5, 1) for _ in range(3))
            text += f'<inertial pos="{vector(rng)}" {rng.choice(turns)()} mass="{rng.uniform(0.1, 5)}" diaginertia="{a} {b} {c}"/>'
        for i in range(rng.randint(1, 3)):
            weight = rng.choice(["", f'mass="{rng.uniform(0.1, 2)}"', 'class="heavy"', 'class="inner"', f'group="{rng.randint(0, 5 if i else 3)}"'])
            geom = rng.choice(geoms)()
            text += f'<geom {geom} {weight}' + ("/>" if "fromto" in geom
                                                   else ' class="placed"/>' if "class" not in weight and rng.random() < 0.2
                                                   else f' pos="{vector(rng)}" {rng.choice(turns)()}/>')
        for _ in range(rng.randint(0, 2) if depth < 3 else 0):
            text += body(depth + 1)
        return text + "</body>"

    settings = "".join(rng.choice(["", "", word]) for word in (
        f' eulerseq="{rng.choice(["zyx", "XYZ", "xZy", "zxz"])}"', ' boundmass="0.5"', ' boundinertia="0.3"', f' settotalmass="{rng.uniform(1, 50)}"',
        ' inertiagrouprange="0 3"', ' inertiafromgeom="true"'))
    return (f'<mujoco><compiler autolimits="true"{settings}/><default><geom density="300"/><default class="heavy"><geom density="3000"/>'
            '<default class="inner"><geom condim="4"/></default></default><default class="placed"><geom pos="0.1 0.2 0.3" euler="10 20 30"/></default><default class="odd"><joint pos="0.1 0 0.2" type="hinge"/></default>'
            '</default><worldbody>' + body(0) + body(0) + "</worldbody></mujoco>")


def write_mesh(path, rng, lid=True):
    """A body with a dent, or without a lid: eight corners of a box, a ninth inside, on numbers that floats hold. Returns its
    vertices and triangles."""
    corners = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    inner = [rng.randint(-8, 8) / 16 for _ in range(2)] + [rng.randint(-8, 8) / 16]
    faces += [[1, 5, 8], [5, 7, 8], [7, 3, 8], [3, 1, 8]] if lid else []
    corners = [[0.125 * rng.randint(7, 9) * x for x in c] for c in corners] + [inner]
    with open(path, "w") as file:
        file.write("".join("v %.17g %.17g %.17g\n" % tuple(c) for c in corners))
        file.write("".join("f %d %d %d\n" % tuple(i + 1 for i in f) for f in faces))
    return np.array(corners), np.array(faces)


def generate_features(rng, folder, number):
    """What generate_mjcf leaves out: files that are included, meshes of every kind with scales and frames of their own, turns in
    classes under turns of the element's own, full and impossible inertias, keys."""
    mesh = f"mesh{number}.obj"
    write_mesh(os.path.join(folder, mesh), rng)
    v = lambda scale=1.0: " ".join(f"{rng.uniform(-scale, scale):.6g}" for _ in range(3))
    turn = lambda: rng.choice([f'euler="{v(90)}"', f'quat="{v()} 0.5"', f'axisangle="{v()} {rng.uniform(-180, 180)}"', f'zaxis="{v()}"', f'xyaxes="{v()} {v()}"', ""])
    # of two notations, one in a class, MuJoCo 2 takes one by its own order, MuJoCo 3 the element's own; of one they agree
    classed = rng.choice(['euler="10 20 30"', 'quat="0.5 0.1 0.2 0.3"', ""])
    inner = rng.choice(['euler="40 5 6"', 'quat="0.1 0.9 0 0.3"', ""])
    under = lambda: rng.choice([f'euler="{v(90)}"', f'quat="{v()} 0.5"', ""])
    scale = rng.choice(["", 'scale="2 0.5 1"', 'scale="0.5 0.5 0.5"', 'scale="-1 1 1"'])
    frame = rng.choice(["", 'refpos="0.25 0 -0.5"', 'refpos="0.25 0 0.125" refquat="0 1 0 0"', 'refpos="0.25 0 0.125" refquat="0 1 1 0"', 'refquat="0.5 0.5 0.5 0.5"'])
    with open(os.path.join(folder, f"part{number}.xml"), "w") as file:
        file.write(f'<mujocoinclude><body name="part" pos="{v()}" {turn()} childclass="inner"><joint name="jp" axis="{v()}"/>'
                   f'<geom type="mesh" mesh="m" pos="{v()}" {under()}/><geom class="plain" size="0.2" type="{rng.choice(["sphere", "box"])}"'.replace('size="0.2" type="box"', 'size="0.2 0.1 0.3" type="box"')
                   + "/></body></mujocoinclude>")
    inertial = rng.choice([f'fullinertia="2 3 4 0.1 -0.2 0.3" pos="{v()}"', f'diaginertia="1 2 9" pos="{v()}" {turn()}', f'diaginertia="1 2 2.5" pos="{v()}" {turn()}'])
    ref = rng.uniform(-40, 40)
    return (f'<mujoco><compiler balanceinertia="true" exactmeshinertia="true" autolimits="true"/>'
            f'<default><geom density="300" {classed}/><default class="inner"><geom {inner}/><default class="plain"><geom mass="2"/></default></default></default>'
            f'<asset><mesh name="m" file="{mesh}" {scale} {frame}/></asset><option><flag gravity="disable"/></option><worldbody><geom type="plane" size="1 1 1"/>'
            f'<body name="a" pos="{v()}" {turn()}><freejoint/><geom type="box" size="0.1 0.2 0.3" {under()}/><include file="part{number}.xml"/>'
            f'<body name="b" {turn()}><joint name="jb" type="hinge" ref="{ref}" range="{ref - 50} {ref + 50}" axis="{v()}"/><inertial mass="3" {inertial}/>'
            f'<body name="c"><geom class="inner" type="mesh" mesh="m"/></body></body></body></worldbody>'
            '<contact><exclude body1="world" body2="a"/><exclude body1="part" body2="c"/></contact></mujoco>')


def generate_chain(rng):
    """A random tree of heavy bodies, each on one joint with a rotor, a spring or a servo."""
    count = [0]
    servos = []

    def body(depth):
        count[0] += 1
        name = f"j{count[0]}"
        more = rng.choice(["", f'stiffness="{rng.uniform(0, 50)}" springref="{rng.uniform(-1, 1)}"'])
        if rng.random() < 0.4:
            servos.append(f'<position joint="{name}" kp="{rng.uniform(1, 90)}" gear="{rng.uniform(-2, 2)}"/>')
        a, b, c = (rng.uniform(0.5, 1) for _ in range(3))
        text = (f'<body name="b{count[0]}" pos="{vector(rng)}" euler="{vector(rng, 2)}"><joint name="{name}" type="{rng.choice(["hinge", "slide"])}" '
                f'axis="{vector(rng)}" pos="{vector(rng)}" armature="{rng.choice([0, rng.uniform(0, 5)])}" {more}/>'
                f'<inertial pos="{vector(rng)}" euler="{vector(rng, 2)}" mass="{rng.uniform(0.5, 5)}" diaginertia="{a} {b} {c}"/>')
        for _ in range(rng.randint(0, 2) if depth < 3 else 0):
            text += body(depth + 1)
        return text + "</body>"

    bodies = body(0) + body(0)
    return f'<mujoco><compiler angle="radian"/><worldbody>{bodies}</worldbody><actuator>{"".join(servos)}</actuator></mujoco>'


def generate_drives(rng):
    """A random tree of heavy bodies, each on one joint, with actuators of every kind in nested classes, some at tendons of one
    joint, and a key that says where all are and what controls they have. Targets are less than half a turn away."""
    u = lambda low, high: f"{rng.uniform(low, high):.6g}"
    signed = lambda: rng.choice(["", "-"]) + u(1, 2)
    # of a bias before a position MuJoCo 2 keeps nothing, MuJoCo 3 what the position does not say
    servo = lambda k, push=0: f'gainprm="{k}" biastype="affine" biasprm="{push} -{k} -{u(0, 2)}"'
    kinds = [lambda: f'<position kp="{u(5, 50)}"/>', lambda: f'<general {servo(u(5, 50))}/>', lambda: f'<motor gear="{signed()}"/>',
             lambda: f'<velocity kv="{u(1, 4)}"/>', lambda: f'<general gear="{signed()}"/>', lambda: '<position ctrlrange="-0.3 0.4"/>', lambda: ""]
    joint = lambda: rng.choice(["", f'<joint armature="{u(0, 2)}"/>', f'<joint stiffness="{u(0, 9)}" springref="{u(-1, 1)}"/>', f'<joint ref="{u(-0.5, 0.5)}"/>'])
    inside = lambda: joint() + rng.choice(kinds)()
    count, tendons, actuators, places, controls = [0], [], [], [], []

    def body(depth):
        count[0] += 1
        name, of = f"j{count[0]}", rng.choice(["", *(f' class="{c}"' for c in "abc")])
        a, b, c = (rng.uniform(0.5, 1) for _ in range(3))
        text = (f'<body pos="{vector(rng)}" euler="{vector(rng, 2)}"><joint name="{name}"{of} axis="{vector(rng)}" type="{rng.choice(["hinge", "slide"])}"/>'
                f'<inertial pos="{vector(rng)}" mass="{rng.uniform(0.5, 5)}" diaginertia="{a} {b} {c}"/>')
        places.append(u(-1, 1))
        for _ in range(rng.choice([0, 1, 1, 2])):
            at = f'joint="{name}"'
            if rng.random() < 0.2:
                tendons.append(f'<fixed name="t{len(tendons)}"><joint joint="{name}" coef="{signed()}"/></fixed>')
                at = f'tendon="t{len(tendons) - 1}"'
            kind = rng.choice(["position", "velocity", "motor", "general"])
            more = rng.choice(["", {"position": f'kp="{u(5, 50)}"', "velocity": f'kv="{u(1, 4)}"', "motor": "", "general": servo(u(5, 50), u(-1, 1))}[kind]])
            actuators.append(f'<{kind} {at} class="{rng.choice("abc")}" {more}/>')
            controls.append(u(-1, 1))
        for _ in range(rng.randint(0, 2) if depth < 3 else 0):
            text += body(depth + 1)
        return text + "</body>"

    bodies = body(0) + body(0)
    actuators.append('<motor joint="j1" class="a" ctrlrange="-1 0.5" forcerange="-0.2 0.2" gear="3"/>')
    controls.append("0.7")
    return (f'<mujoco><compiler angle="radian" autolimits="true"/><default><position kp="20"/><default class="a">{inside()}<default class="b">{inside()}</default></default>'
            f'<default class="c">{inside()}</default></default><worldbody>{bodies}</worldbody>{"<tendon>" + "".join(tendons) + "</tendon>" if tendons else ""}'
            f'<actuator>{"".join(actuators)}</actuator><keyframe><key name="start" qpos="{" ".join(places)}" ctrl="{" ".join(controls)}"/></keyframe></mujoco>')


if __name__ == "__main__":
    unittest.main()
