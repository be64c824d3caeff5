# SPDX-License-Identifier: Apache-2.0
"""Worlds: what is in them, and how they move."""
import math
import os

from . import _native
from .handles import ALL, IDENTITY, ZERO, Body, Joint, Material, frames, id_of
from .problem import Problem, option_key, reals
from .rows import Contacts, Energy, History, Hit, Rays, Size


def _unknown(what, name, known):
    """A KeyError that says which name is meant, where one is near."""
    import difflib
    names = [one.name for one in known if one.name]
    near = difflib.get_close_matches(str(name), names, 1)
    more = f'; did you mean "{near[0]}"?' if near else "; there is " + ", ".join(names[:8]) + ("" if len(names) < 9 else ", …") if names else ""
    return KeyError(f'there is no {what} "{name}"{more}')


class World(_native.World):
    """Bodies, what they are made of and what joins them, and how they move.

        world = tribo.World(dt=0.005)                       # empty
        world = tribo.World.load("scene.json")              # a scene file
        world = tribo.World.from_dict({"tribo": 1, "bodies": […]})
        world = tribo.World.gallery("arch", stones=21)      # a scene made by rule

        report = world.step(10)      # 10 steps; the interpreter lock is released meanwhile
        report.residual              # the judge's number in m/s: the certificate of the step
        world.positions              # bodies × 3; also orientations, velocities, angular_velocities
        world.contacts.impulse       # contacts × 6; also normal, gap, state, residual, …
        world["keystone"].position   # a body by name
        history = world.run(seconds=2.0)   # arrays over time: residual, energies, contacts, …
        world.contact_forces         # bodies × 3, N: force sensors; contact_torques
        world["block"].set_load(force=(0, 0, -5))   # acts in every step; apply: in the next one
        twin = copy.deepcopy(world)  # goes on to the same bits; pickle.dumps(world), too

        @world.before_step           # forces and control: called with the world before every step
        def push(world):
            world["block"].apply(force=(3, 0, 0))

        moment = world.snapshot()    # … world.restore(moment): the same bits again

    Options of schemes and solvers have the names of scene files (tribo.options() lists them): world.set(solver="bgs",
    iterations=200) or world.set(**{"solver.order": "layers"}). Without a scheme, the first one that moves all bodies is used.

    A world serves one thread at a time: one that is being stepped raises RuntimeError in others. `close` frees it; a
    with statement does so at its end. Arrays are copies.
    """

    _scheme_given = True  # by a file, or set

    def __init__(self, name=None, gravity=(0, 0, -9.81), seed=0, threads=1, **options):
        super().__init__()
        self._create(name, gravity, seed)
        self._scheme_given = False
        self._begin(threads, options)

    def _begin(self, threads, options):
        if threads is not None:
            self.threads = threads
        self.set(**options)
        return self

    @classmethod
    def load(cls, path, threads=None, values=None, **options):
        """A scene file (docs/scene-format.md), or the name of a scene of the gallery.

        values   {path of keys: value} in the place of the file's: {"bodies.top.mass": 3, "soft.*.young": 1e6}
        """
        import json
        world = cls.__new__(cls)
        if not os.path.isfile(path) and os.fspath(path) in {row[0] for row in _native.list_gallery()}:
            if values:
                raise ValueError("values: of a scene file; World.gallery takes parameters")
            return cls.gallery(os.fspath(path), threads=threads, **({"options": options} if options else {}))
        try:
            world._load(path, tuple(f"{key}={json.dumps(value, default=_plain)}" for key, value in (values or {}).items()))
        except _native.FileError as error:
            import difflib
            near = difflib.get_close_matches(str(path), [row[0] for row in _native.list_gallery()], 1)
            if near:
                error.args = (f'{error}; the gallery has a scene "{near[0]}"',)
            raise
        return world._begin(threads, options)

    @classmethod
    def from_dict(cls, scene, folder=None, threads=None, **options):
        """A scene as a dict with the keys of scene files; mesh files are relative to `folder`."""
        import json
        world = cls.__new__(cls)
        world._parse("scene", json.dumps(scene, default=_plain), None if folder is None else os.fspath(folder))
        return world._begin(threads, options)

    @classmethod
    def gallery(cls, name, folder=None, threads=None, options=None, **parameters):
        """A scene made by rule: tribo.gallery() lists them with their parameters. folder: where its meshes go."""
        world = cls.__new__(cls)
        world._gallery(name, parameters, None if folder is None else os.fspath(folder))
        return world._begin(threads, options or {})

    @classmethod
    def from_robot(cls, path, floating=False, threads=None, key=None, joints=None, **options):
        """A robot's file, URDF or MJCF; tribo.import_robot also says what is not in it. Joints are in the file's order."""
        text, _ = _native.import_robot(path, None, floating, key, tuple((joints or {}).items()))
        world = cls.__new__(cls)
        world._parse(os.fspath(path), text, "/")
        return world._begin(threads, options)

    @classmethod
    def load_checkpoint(cls, path, threads=None):
        """Goes on bit for bit as what was saved would have."""
        world = cls.__new__(cls)
        world._load_checkpoint(path)
        return world._begin(threads, {})

    def save_checkpoint(self, path):
        """A file that needs no other: World.load_checkpoint, and `tribo resume`."""
        self._save_checkpoint(path)

    @classmethod
    def from_bytes(cls, checkpoint, threads=None):
        """What to_bytes gave; goes on bit for bit."""
        world = cls.__new__(cls)
        world._from_bytes(memoryview(checkpoint).tobytes())
        return world._begin(threads, {})

    def __reduce__(self):
        return type(self).from_bytes, (self.to_bytes(),)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        if self.closed:
            return "<tribo.World: closed>"
        bodies, joints, _, contacts = self._counts()
        return f"<tribo.World {self.name!r}: {bodies} bodies, {joints} joints, {contacts} contacts, t = {self.time:g} s>"

    # Options.

    def set(self, **options):
        """Sets options by key or by last name: dt=0.005, scheme='moreau', solver='bgs', order='layers', …"""
        for key, value in options.items():
            self._set_option(option_key(key), value)
            self._scheme_given |= option_key(key) == "scheme.name"

    def get(self, key):
        """The value of an option."""
        return self._get_option(option_key(key))

    @property
    def dt(self):
        """The time step, s."""
        return self._get_option("dt")

    @dt.setter
    def dt(self, value):
        self._set_option("dt", value)

    # Building.

    def add_material(self, name, density=1000.0, friction=0.5, restitution=0.0):
        """A material. friction: a number, or a dict with the keys that scene files have:

        {'mu', 'torsion', 'rolling'} (m), {'mu_t', 'mu_b', 'direction'},
        {'model': 'matchstick', 'mu', 'mu_t', 'mu_b', 'direction'}, {'model': 'tensor', 'matrix', 'matrix_back', 'kappa', 'direction'}
        or {'model': 'texture', 'texture', 'direction', 'scale', 'patch'} of World.add_texture; those with a direction
        may have 'field' of add_field or 'direction_map' of add_direction_map in its place, and images lie by 'scale' (metres
        per repeat) and 'mapping' ('contact', 'planar', 'box'), or by 'chart' of add_chart or load_chart;
        each may have 'static_ratio', 'stribeck' (m/s), 'tresca' (N), 'adhesion' (N) and 'restitution'.
        """
        return Material(self, self._add_material(name, density, friction, restitution))

    def material(self, name):
        """A material by name."""
        id = self._find_material(name)
        if id is None:
            raise _unknown("material", name, ())
        return Material(self, id)

    @property
    def materials(self):
        """All materials, the default one first."""
        return [Material(self, id) for id in self._material_ids()]

    def add_texture(self, normals):
        """Normals of a surface's texture, height × width × 3 (x along the friction's direction, z out of the surface);
        a number for friction={'model': 'texture', 'texture': …}."""
        normals = reals(normals, "normals")
        if normals.ndim != 3 or normals.shape[2] != 3:
            raise ValueError("normals: expected an array of height × width × 3")
        height, width, _ = normals.shape
        return self._add_texture(width, height, normals.reshape(-1, 3))

    def add_field(self, points, directions):
        """Directions of a surface's structure at points of the body's frame (of a deformable's mesh), n × 3 each; a number
        for friction={…, 'field': …}."""
        return self._add_field(points, directions)

    def add_direction_map(self, directions):
        """The same by the pixels of an image, height × width × 2: x along its columns, y along its rows; a number for
        friction={…, 'direction_map': …}."""
        directions = reals(directions, "directions")
        if directions.ndim != 3 or directions.shape[2] != 2:
            raise ValueError("directions: expected an array of height × width × 2")
        height, width, _ = directions.shape
        return self._add_direction_map(width, height, directions.reshape(-1, 2))

    def add_chart(self, corners, coordinates):
        """Texture coordinates: three corners for each triangle in the body's frame (of a deformable's mesh), n × 3, and
        (u, v) in repeats of each, n × 2; a number for friction={…, 'chart': …}."""
        return self._add_chart(corners, coordinates)

    def load_chart(self, path, scale=1.0):
        """The texture coordinates (vt) of an OBJ file; as add_chart."""
        scale = (scale, scale, scale) if isinstance(scale, (int, float)) else scale
        return self._load_chart(str(path), scale)

    def set_pair(self, a, b, friction, restitution=0.0):
        """What two materials do together, in place of the mean of both."""
        self._set_pair(id_of(a, self, Material, "a"), id_of(b, self, Material, "b"), friction, restitution)

    def set_pair_spring(self, a, b, stiffness, damping=0.0, coat=0.0):
        """How contacts of two materials give way, in place of both of theirs; as Material.set_spring."""
        self._set_pair_spring(id_of(a, self, Material, "a"), id_of(b, self, Material, "b"), stiffness, damping, coat)

    def add_body(self, shapes=(), position=ZERO, orientation=IDENTITY, *, name=None, motion="dynamic", material=None,
                 mass=0.0, density=0.0, inertia=None, velocity=ZERO, angular_velocity=ZERO, friction=None,
                 restitution=None, keys=None, bullet=False, category=1, mask=ALL, centre_of_mass=None):
        """A rigid body of one shape or several.

        motion   'dynamic', 'fixed' or 'kinematic' (with velocities, or keys: rows of t, x, y, z, qw, qx, qy, qz)
        mass     kg; 0: from density (kg/m³), or from the material's
        inertia  about the centre of mass, body axes: xx, yy, zz, xy, xz, yz; None: from the shapes
        centre_of_mass   in the body's frame; None: that of the shapes
        """
        if isinstance(shapes, _native.Shape):
            shapes = (shapes,)
        if shapes is None:
            raise TypeError("shapes: a shape such as tribo.sphere(0.1), or several, not None")
        return Body(self, self._add_body(name, motion, shapes, id_of(material, self, Material, "material"), mass, density, inertia, position,
                                         orientation, velocity, angular_velocity, friction, restitution, keys, bullet,
                                         category, mask, centre_of_mass))

    def add_soft(self, solid, position=ZERO, orientation=IDENTITY, *, name=None, model="corotated", young=1e6,
                 poisson=0.3, density=1000.0, mass_damping=0.0, stiffness_damping=0.0, material=None, friction=None,
                 velocity=ZERO, angular_velocity=ZERO, pins=(), springs=(), self_contact=True, category=1,
                 mask=ALL):
        """A deformable solid: tribo.solid_box, tribo.solid_load, … pins: (nodes, body or None) each.

        springs        (node, node, stiffness in N/m) each, or with the length at rest in m
        """
        return self._deforming(self._add_soft(name, solid, model, young, poisson, density, mass_damping, stiffness_damping,
                                         id_of(material, self, Material, "material"), friction, position, orientation, velocity,
                                         angular_velocity, self._pins(pins), self._springs(springs), self_contact, 0,
                                         "linear", None,
                                         category, mask))

    def add_reduced(self, solid, modes, position=ZERO, orientation=IDENTITY, *, basis="linear", basis_file=None,
                    name=None, young=1e6, poisson=0.3, density=1000.0, mass_damping=0.0, stiffness_damping=0.0,
                    material=None, friction=None, velocity=ZERO, angular_velocity=ZERO, pins=(), self_contact=True,
                    category=1, mask=ALL):
        """A solid that deforms by a few modes of vibration in a frame that moves with it.

        modes       how many
        basis       'linear', or 'modal-derivatives' for large bending
        basis_file  where the modes are kept for the next time
        """
        if modes < 1:
            raise ValueError("modes: at least one")
        model = "stvk" if basis == "modal-derivatives" else "linear"
        return self._deforming(self._add_soft(name, solid, model, young, poisson, density, mass_damping, stiffness_damping,
                                         id_of(material, self, Material, "material"), friction, position, orientation, velocity,
                                         angular_velocity, self._pins(pins), (), self_contact, modes, basis, basis_file,
                                         category, mask))

    def add_cloth(self, sheet, position=ZERO, orientation=IDENTITY, *, name=None, area_density=0.2, stretch=200.0,
                  shear=50.0, bend=1e-5, bending="quadratic", strain_limit=0.0, limit_stiffness=0.0, thickness=1e-3, air_damping=0.0, material=None, friction=None, velocity=ZERO,
                  angular_velocity=ZERO, pins=(), springs=(), self_contact=True, category=1,
                  mask=ALL):
        """Cloth of a tribo.mesh, or of a grid ((width, height), (cells, cells)) in the plane z = 0.

        bending        quadratic or dihedral: how folds resist under the scheme pd
        strain_limit   threads that are longer or shorter than at rest by more than this part resist with
                       limit_stiffness (0: 100 times stretch), too; 0: no limit
        springs        (node, node, stiffness in N/m) each, or with the length at rest in m
        """
        (width, height), (across, along) = ((0, 0), (0, 0)) if isinstance(sheet, _native.Shape) else sheet
        mesh = sheet if isinstance(sheet, _native.Shape) else None
        return self._deforming(self._add_cloth(name, mesh, width, height, across, along, area_density, stretch, shear, bend, bending,
                                          strain_limit, limit_stiffness, thickness, air_damping, id_of(material, self, Material, "material"), friction, position, orientation,
                                          velocity, angular_velocity, self._pins(pins), self._springs(springs), self_contact, category,
                                          mask))

    def add_animated(self, triangles, times, vertices, position=ZERO, orientation=IDENTITY, *, name=None,
                     thickness=0.0, material=None, friction=None, velocity=ZERO, angular_velocity=ZERO, keys=None,
                     category=1, mask=ALL):
        """A mesh that goes where it is told, vertex by vertex: an obstacle that nothing moves.

        triangles  (count, 3) numbers of vertices, counter-clockwise seen from outside
        times      of the frames, increasing, s
        vertices   (frames, vertices, 3), in a frame that may move itself, by velocities or keys as of a kinematic body
        Body.set_frames gives it other frames, while a world runs, too.
        """
        return self._deforming(self._add_animated(name, triangles, times, frames(vertices), thickness, id_of(material, self, Material, "material"), friction,
                                             position, orientation, velocity, angular_velocity, keys, category, mask))

    def _deforming(self, id):
        """The body, and a scheme that moves it where none was asked for."""
        if not self._scheme_given:
            self._fit_scheme()
        return Body(self, id)

    @staticmethod
    def _springs(springs):
        return tuple(tuple(s) if len(s) == 4 else (*s, -1.0) for s in springs)

    def _pins(self, pins):
        return tuple((nodes, id_of(body, self, Body, "pins"), ZERO, ZERO, None) for nodes, body in pins)

    def add_joint(self, type, a, b, anchor, axis=(0, 0, 1), *, anchor_b=None, limits=None, motor=None, servo=None,
                  effort=0.0, friction=0.0, armature=0.0, compliance=0.0, damping=0.0, collide=False, name=None):
        """A 'ball', 'hinge', 'slider', 'weld' or 'distance' joint of two bodies; None: the world.

        anchor, axis   in the world, now
        limits   (lower, upper), rad or m from creation
        motor    (speed, largest force)
        servo    (target, stiffness, damping, largest force); Joint.follow lets the target move
        effort   a torque or force, beside these; Joint.effort changes it
        friction dry, beside these: at most so much torque or force; Joint.friction changes it
        armature inertia of a rotor behind its gear, kg·m² or kg; Joint.armature changes it
        name     unique among joints, for World.joint and CSV files
        """
        return Joint(self, self._add_joint(type, id_of(a, self, Body, "a"), id_of(b, self, Body, "b"), anchor, anchor_b, axis, limits, motor,
                                           servo, effort, friction, armature, compliance, damping, collide, name))

    def ignore_pair(self, a, b, ignore=True):
        """Two bodies pass through each other from now on, or no longer."""
        self._ignore_pair(id_of(a, self, Body, "a"), id_of(b, self, Body, "b"), ignore)

    # Looking.

    def __getitem__(self, name):
        id = self._find_body(name)
        if id is None:
            raise _unknown("body", name, self.bodies)
        return Body(self, id)

    @property
    def bodies(self):
        """All bodies, in order of places."""
        return [Body(self, id) for id in self._body_ids()]

    def joint(self, name):
        """The joint of that name; KeyError: there is none."""
        id = self._find_joint(name)
        if id is None:
            raise _unknown("joint", name, self.joints)
        return Joint(self, id)

    @property
    def joints(self):
        """All joints, in order of places."""
        return [Joint(self, id) for id in self._joint_ids()]

    @property
    def positions(self):
        """bodies × 3, m, of the body frames' origins."""
        return self._positions()

    @property
    def orientations(self):
        """bodies × 4: w, x, y, z."""
        return self._orientations()

    @property
    def velocities(self):
        """bodies × 3, m/s."""
        return self._velocities()

    @property
    def angular_velocities(self):
        """bodies × 3, rad/s, world axes."""
        return self._angular()

    @property
    def masses(self):
        """kg; 0 of bodies that forces do not move."""
        return self._masses()

    @property
    def joint_coordinates(self):
        """Angles and travels, one per joint."""
        return self._joint_numbers(0)

    @property
    def joint_speeds(self):
        return self._joint_numbers(1)

    @property
    def joint_drives(self):
        """What motors and servos bring, N or N·m, one per joint."""
        return self._joint_numbers(2)

    @property
    def contacts(self):
        """The contacts of the last step, as arrays."""
        return Contacts(*self._contacts())

    @property
    def contact_forces(self):
        """bodies × 3: the sum of contact forces on each body in the last step, N, world axes."""
        return self._contact_sums()[0]

    @property
    def contact_torques(self):
        """bodies × 3: the torques of the contact forces about each body's position in the last step, N·m, world axes."""
        return self._contact_sums()[1]

    @property
    def contact_counts(self):
        """How many contacts acted on each body in the last step."""
        return self._contact_sums()[2]

    def friction_set(self, contact, points=32):
        """Points around the friction set of a contact, × 3, world axes: forces on its second body per newton of normal
        force. Empty where friction has no set in the plane."""
        return self._contact_friction(contact, points)

    @property
    def nodes(self):
        """Nodes of all deformable bodies: (first row of each body and the end, positions × 3, velocities × 3), copies."""
        return self._all_nodes()

    @property
    def size(self):
        """How many bodies, shapes, joints, nodes and elements."""
        return Size(*self._size())

    @property
    def frictions(self):
        """Every friction that is written down, as dicts: of the materials, then of bodies with their own, then of pairs.

        Assign a list of as many to change them, as in: world.frictions = [{**f, "mu": 2 * f["mu"]} for f in world.frictions]
        """
        return self._frictions()

    @frictions.setter
    def frictions(self, values):
        values, before = list(values), self._frictions()
        if len(values) != len(before):
            raise ValueError(f"frictions: expected {len(before)}, got {len(values)}")
        try:
            for index, value in enumerate(values):
                self._set_friction_at(index, value)
        except BaseException:  # all of them, or none
            for index, value in enumerate(before):
                self._set_friction_at(index, value)
            raise

    def doubts(self):
        """What is doubtful about the deformable bodies as they stand: (body, body or None, what) each; none of it is an error."""
        bodies = self.bodies
        return [(bodies[a], None if b < 0 else bodies[b], what) for a, b, what in self._doubts()]

    @property
    def events(self):
        """Pairs that began to touch in the last step, or ceased to: (body, body, begins)."""
        return [(Body(self, a), Body(self, b), begins) for a, b, begins in self._events()]

    @property
    def energy(self):
        return Energy(*self._whole("energy"))

    @property
    def time(self):
        """s."""
        return self._whole("time")

    @property
    def steps(self):
        """How many were done."""
        return self._whole("steps")

    @property
    def gravity(self):
        """m/s²; assign to change it."""
        return self._whole("gravity")

    @gravity.setter
    def gravity(self, value):
        self._set_gravity(value)

    @property
    def momentum(self):
        """kg·m/s, of what moves freely."""
        return self._whole("momentum")

    @property
    def angular_momentum(self):
        """About the origin."""
        return self._whole("angular")

    @property
    def hash(self):
        """64 bits of everything that decides the future, in hex: equal for equal states."""
        return self._whole("hash")

    def ray(self, start, direction, length=math.inf, categories=ALL):
        """The first thing that a ray meets, or None."""
        return self._hit(self._ray(start, direction, length, categories))

    def ray_all(self, start, direction, length=math.inf, categories=ALL):
        """Where a ray first meets each shape and surface, nearest first."""
        return [self._hit(found) for found in self._ray_all(start, direction, length, categories)]

    def rays(self, starts, directions, length=math.inf, categories=ALL):
        """Many rays at once, as a range finder casts them: starts and directions n × 3; Rays of n rows.

        Faster than ray for each: the bodies are sorted into a tree first.
        """
        rows = self._rays(starts, directions, length, categories)
        integers = (rows[:, i].astype(int) for i in (1, 2, 3))
        return Rays(rows[:, 0].copy(), *integers, rows[:, 4:7].copy(), rows[:, 7:].copy())

    def nearest(self, point, reach=math.inf, categories=ALL):
        """The surface point nearest to a point, or None."""
        return self._hit(self._nearest(point, reach, categories))

    def _hit(self, found):
        return found and Hit(Body(self, found[0]), *found[1:])

    def overlap(self, low, high, categories=ALL):
        """The bodies that an axis-aligned box meets."""
        return [Body(self, id) for id in self._overlap(low, high, categories)]

    def overlaps(self, share=0.01):
        """Pairs of bodies that lie inside each other by more than a share of their size: (body, body, depth in m)."""
        bodies = self.bodies
        return [(bodies[a], bodies[b], depth) for a, b, depth in self._overlaps(share)]

    # Moving.

    def run(self, seconds=None, steps=None):
        """Steps for a time or a number of steps (default: the scene's own time) and returns a History."""
        if steps is None:
            seconds = self.duration if seconds is None else seconds
            steps = max(1, round(seconds / self.dt))
        rows = self._record(steps)
        return History(*(rows[:, i].copy() for i in range(rows.shape[1])))

    def before_step(self, function):
        """Calls function(world) before every step: forces and control. Returns the function, so it decorates."""
        if not callable(function):
            raise TypeError("before_step takes a function of the world")
        self._callbacks().append(function)
        return function

    def remove_callback(self, function):
        """Ends what before_step began."""
        self._callbacks().remove(function)

    def problem(self):
        """The contact problem of the coming step, frozen; its guess is the warm start."""
        return Problem(self._problem())

    def record_to(self, path, kind="replay", fps=60.0):
        """Records from now on into a file: 'replay', 'gltf', 'usd', 'vtk', …; ended by end_recordings or close."""
        self._begin_recording(kind, path, fps)


def _plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a scene holds numbers, strings, lists and dicts, not {type(value).__name__}")


def batch(worlds, steps=1, threads=None):
    """Steps many worlds side by side, each on one thread, and returns their last reports in order.

    Each world has the bits it has by itself. threads: None for one per processor.
    """
    if threads is None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _native.batch_step(list(worlds), steps, min(threads, 256))
