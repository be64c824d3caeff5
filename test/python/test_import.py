# SPDX-License-Identifier: Apache-2.0
"""Robots' files against other readers of them: for URDF one of a page, written here from its specification; for MJCF,
Debian's MuJoCo. Masses, centres, inertias and poses agree to 1e-9 on the models of ../shared/robots and on generated
ones."""
import glob
import os
import random
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


class Import(unittest.TestCase):
    def setUp(self):
        try:
            tribo.import_robot("/dev/null")
        except tribo.UnsupportedError:
            self.skipTest("built without expat")
        except tribo.Error:
            pass

    def agree(self, scene, other, notes, what, axes=1e-9):
        """axes: of inertias, whose principal axes MuJoCo iterates for; the moments themselves always agree to 1e-9."""
        bodies = {b["name"]: b for b in scene["bodies"]}
        for name, (R, x, mass, centre, inertia) in other.items():
            if name not in bodies:
                self.assertEqual(mass, 0, f"{what}: {name} is gone")
                continue
            b = bodies[name]
            np.testing.assert_allclose(b["position"], x, atol=1e-9, err_msg=f"{what}: {name}")
            np.testing.assert_allclose(matrix(b["orientation"]), R, atol=1e-9, err_msg=f"{what}: {name}")
            if "mass" not in b or any(f'"{name}" is not positive definite' in n for n in notes):
                continue
            self.assertAlmostEqual(b["mass"], mass, delta=1e-9 * mass, msg=f"{what}: {name}")
            np.testing.assert_allclose(b["centre_of_mass"], centre, atol=1e-9, err_msg=f"{what}: {name}")
            size = max(1e-3, np.abs(inertia).max())
            np.testing.assert_allclose(full(b["inertia"]), inertia, rtol=0, atol=axes * size, err_msg=f"{what}: {name}")
            np.testing.assert_allclose(np.linalg.eigvalsh(full(b["inertia"])), np.linalg.eigvalsh(inertia), rtol=0, atol=1e-9 * size,
                                       err_msg=f"{what}: {name}")

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

    def test_mjcf_models_agree_with_mujoco(self):
        files = glob.glob(os.path.join(ROBOTS, "mjcf", "*", "*.xml"))
        if not files or not os.path.exists("/usr/include/mujoco/mujoco.h") or not shutil.which("cc"):
            self.skipTest("no ../shared/robots, or no libmujoco-dev")
        with tempfile.TemporaryDirectory() as folder:
            oracle = os.path.join(folder, "oracle")
            subprocess.run(["cc", os.path.join(HERE, "mujoco_oracle.c"), "-lmujoco", "-o", oracle], check=True)
            read = 0
            for path in files:
                scene, notes = tribo.import_robot(path)
                tribo.World.from_robot(path).step(1)
                out = subprocess.run([oracle, path], capture_output=True, text=True, cwd=folder)
                if out.returncode:  # newer than Debian's MuJoCo reads
                    continue
                read += 1
                given = {b.get("name") for b in ElementTree.parse(path).iter("body") if b.find("inertial") is not None}
                other = {}
                for line in out.stdout.splitlines():
                    name, *v = line.split()
                    v = np.array([float(x) for x in v])
                    if name in given:  # masses of meshes depend on how each reads them
                        other[name] = (matrix(v[13:17]), v[10:13], v[0], v[1:4], full(v[4:10]))
                self.agree(scene, other, notes, path)
            self.assertGreater(read, 0)

    def test_generated_mjcf_agrees_with_mujoco(self):
        if not os.path.exists("/usr/include/mujoco/mujoco.h") or not shutil.which("cc"):
            self.skipTest("no libmujoco-dev")
        rng = random.Random(6)
        with tempfile.TemporaryDirectory() as folder:
            oracle, path = os.path.join(folder, "oracle"), os.path.join(folder, "robot.xml")
            subprocess.run(["cc", os.path.join(HERE, "mujoco_oracle.c"), "-lmujoco", "-o", oracle], check=True)
            for case in range(60):
                with open(path, "w") as file:
                    file.write(generate_mjcf(rng))
                scene, notes = tribo.import_robot(path)
                out = subprocess.run([oracle, path], capture_output=True, text=True, cwd=folder, check=True)
                other = {}
                for line in out.stdout.splitlines():
                    name, *v = line.split()
                    v = np.array([float(x) for x in v])
                    other[name] = (matrix(v[13:17]), v[10:13], v[0], v[1:4], full(v[4:10]))
                self.agree(scene, other, notes, f"case {case}", axes=1e-5)

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

    def body(depth):
        count[0] += 1
        text = f'<body name="b{count[0]}" pos="{vector(rng)}" {rng.choice(turns)()}>'
        text += rng.choice(["", f'<joint axis="{vector(rng)}" pos="{vector(rng)}" range="-30 40"/>', '<joint type="slide"/>', '<joint type="ball"/>'])
        if rng.random() < 0.4:
            a, b, c = (rng.uniform(0.5, 1) for _ in range(3))
            text += f'<inertial pos="{vector(rng)}" {rng.choice(turns)()} mass="{rng.uniform(0.1, 5)}" diaginertia="{a} {b} {c}"/>'
        for _ in range(rng.randint(1, 3)):
            weight = rng.choice(["", f'mass="{rng.uniform(0.1, 2)}"', 'class="heavy"'])
            geom = rng.choice(geoms)()
            text += f'<geom {geom} {weight}' + ("/>" if "fromto" in geom else f' pos="{vector(rng)}" {rng.choice(turns)()}/>')
        for _ in range(rng.randint(0, 2) if depth < 3 else 0):
            text += body(depth + 1)
        return text + "</body>"

    return ('<mujoco><compiler autolimits="true"/><default><geom density="300"/><default class="heavy"><geom density="3000"/></default></default><worldbody>'
            + body(0) + body(0) + "</worldbody></mujoco>")


if __name__ == "__main__":
    unittest.main()
