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

    def agree(self, scene, other, notes, what, axes=1e-9):
        """axes: of inertias, whose principal axes MuJoCo iterates for; the moments themselves always agree to 1e-9."""
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
            self.assertAlmostEqual(b["mass"], mass, delta=1e-9 * mass, msg=f"{what}: {name}")
            self.close(b["centre_of_mass"], centre, 1e-9, f"{what}: centre of mass of {name}")
            size = max(1e-3, np.abs(inertia).max())
            self.close(full(b["inertia"]), inertia, axes * size, f"{what}: inertia of {name}")
            self.close(np.linalg.eigvalsh(full(b["inertia"])), np.linalg.eigvalsh(inertia), 1e-9 * size, f"{what}: moments of {name}")

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


if __name__ == "__main__":
    unittest.main()
