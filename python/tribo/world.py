# SPDX-License-Identifier: Apache-2.0
"""Worlds, and handles of what is in them."""
import math
import os
from collections import namedtuple

from . import _native
from .problem import Problem, option_key

_IDENTITY = (1.0, 0.0, 0.0, 0.0)
_ZERO = (0.0, 0.0, 0.0)
_ALL = 0xFFFFFFFF


def _unknown(what, name, known):
    """A KeyError that says which name is meant, where one is near."""
    import difflib
    near = difflib.get_close_matches(str(name), [one.name for one in known if one.name], 1)
    return KeyError(f'there is no {what} "{name}"' + (f'; did you mean "{near[0]}"?' if near else ""))


class Contacts(namedtuple("Contacts", "a b position normal tangent gap impulse velocity state residual")):
    """The contacts of the last step: one row each, copies.

    a         places of the first bodies
    b         places of the second bodies
    position  × 3, midway between the surfaces
    normal    × 3, from a to b
    tangent   × 3; the second one is normal × tangent
    gap       before the step, m
    impulse   × 6, N·s: normal, tangent, second tangent, torsion, rolling
    velocity  × 6, after the step, of b relative to a
    state     0 open, 1 sticking, 2 slipping
    residual  its part of the judge's number, in fclib's scaling
    """
    __slots__ = ()


class Energy(namedtuple("Energy", "kinetic potential elastic")):
    """Energies in J; potential of gravity is zero at the origin."""
    __slots__ = ()

    @property
    def total(self):
        return self.kinetic + self.potential + self.elastic


class Hit(namedtuple("Hit", "body shape triangle point normal distance")):
    """What a ray or a nearest point has found.

    body
    shape     which shape of the body; −1: a deformable body's surface
    triangle  of a mesh; −1: none
    point
    normal
    distance
    """
    __slots__ = ()


class History(namedtuple("History", "time residual converged iterations contacts penetration kinetic potential elastic")):
    """What World.run saw after every step: arrays of one number per step.

    time
    residual     the certificate of each step, m/s
    converged    1 where the judge confirms the tolerance
    iterations
    contacts
    penetration
    kinetic
    potential
    elastic
    """
    __slots__ = ()


class _Handle:
    __slots__ = ("world", "id")

    def __init__(self, world, id):
        self.world, self.id = world, id

    def __eq__(self, other):
        return type(other) is type(self) and other.world is self.world and other.id == self.id

    def __hash__(self):
        return hash((id(self.world), self.id))


def _id(handle, world):
    if handle is None:
        return None
    if handle.world is not world:
        raise _native.ArgumentError("this is of another world")
    return handle.id


class Material(_Handle):
    """What bodies are made of: World.add_material."""
    __slots__ = ()

    def set_friction(self, friction):
        """A number, or a dict as for World.add_material."""
        self.world._material_friction(self.id, friction)

    def set_restitution(self, restitution):
        """0 … 1."""
        self.world._material_restitution(self.id, restitution)

    def set_spring(self, stiffness, damping=0.0, coat=0.0):
        """How its contacts give way: N/m, N·s/m, and of deformables the coat above the surface, m. 0: rigid."""
        self.world._material_spring(self.id, stiffness, damping, coat)

    def remove(self):
        """Removes it with the rules of its pairs; refused while a body is made of it."""
        self.world._remove_material(self.id)


class Body(_Handle):
    """A body of a world, rigid or deformable. Of one that was removed everything raises tribo.ArgumentError."""
    __slots__ = ()

    def __repr__(self):
        if self.world.closed or self.place < 0:
            return "<tribo.Body: gone>"
        return f"<tribo.Body {self.name!r}: {self.kind}>"

    @property
    def name(self):
        return self.world._body_name(self.id)

    @property
    def kind(self):
        """'dynamic', 'fixed' or 'kinematic' of rigid bodies; 'soft', 'cloth', 'reduced'."""
        return self.world._body_kind(self.id)

    @property
    def place(self):
        """Its row in the world's arrays; −1: it was removed."""
        return self.world._body_place(self.id)

    @property
    def mass(self):
        """kg; 0: not moved by forces."""
        return self.world._body_get_mass(self.id)

    def set_mass(self, mass, inertia=None):
        """Another mass in kg; inertia (xx, yy, zz, xy, xz, yz) scales with it unless it is given."""
        self.world._body_mass(self.id, mass, inertia)

    @property
    def position(self):
        """Of the body frame's origin, m (a copy; assign to move the body)."""
        return self.world._body_state(self.id, 0)

    @position.setter
    def position(self, value):
        self.world._set_state(self.id, value, None, None, None)

    @property
    def orientation(self):
        """(w, x, y, z)."""
        return self.world._body_state(self.id, 1)

    @orientation.setter
    def orientation(self, value):
        self.world._set_state(self.id, None, value, None, None)

    @property
    def velocity(self):
        """Of the body frame's origin, m/s."""
        return self.world._body_state(self.id, 2)

    @velocity.setter
    def velocity(self, value):
        self.world._set_state(self.id, None, None, value, None)

    @property
    def angular_velocity(self):
        """rad/s, world axes."""
        return self.world._body_state(self.id, 3)

    @angular_velocity.setter
    def angular_velocity(self, value):
        self.world._set_state(self.id, None, None, None, value)

    @property
    def nodes(self):
        """Nodes of a deformable body, × 3, m (a copy)."""
        return self.world._body_nodes(self.id, False)

    @property
    def node_velocities(self):
        return self.world._body_nodes(self.id, True)

    def set_nodes(self, positions, velocities):
        self.world._set_nodes(self.id, positions, velocities)

    @property
    def modes(self):
        """Coordinates of a reduced body's deformation (a copy); empty: it has none."""
        return self.world._body_modes(self.id)

    def set_modes(self, coordinates, rates=None):
        """Deforms a reduced body; rates None: at rest."""
        self.world._set_modes(self.id, coordinates, rates)

    @property
    def triangles(self):
        """Its surface over its nodes, × 3 indices; deformable bodies."""
        return self.world._body_triangles(self.id)

    def apply(self, force=_ZERO, torque=_ZERO, at=None):
        """A force (N) on the centre of mass or at a point of the world, and a torque, for the next step only."""
        if at is None:
            self.world._apply(self.id, force, torque)
        else:
            self.world._apply_at(self.id, force, at)
            self.world._apply(self.id, _ZERO, torque)

    def apply_nodes(self, forces):
        """Forces on the nodes of a deformable body, × 3, N, for the next step only."""
        self.world._apply_nodes(self.id, forces)

    def pin(self, nodes, to=None, velocity=_ZERO, angular_velocity=_ZERO, keys=None):
        """Holds nodes from now on: by the world, or by a rigid body."""
        self.world._pin(self.id, (nodes, _id(to, self.world), velocity, angular_velocity, keys))

    def unpin(self, nodes):
        self.world._unpin(self.id, nodes)

    def set_material(self, material):
        self.world._body_material(self.id, _id(material, self.world))

    def set_friction(self, friction):
        """Its own; None: the material's."""
        self.world._body_friction(self.id, friction)

    def set_restitution(self, restitution):
        """Its own; None: the material's."""
        self.world._body_restitution(self.id, restitution)

    def set_filter(self, category=1, mask=_ALL):
        """Two bodies, rigid or not, touch where each has a category that the other's mask has."""
        self.world._set_filter(self.id, category, mask)

    def set_motion(self, keys=None):
        """Of a kinematic body: rows of (t, x, y, z, qw, qx, qy, qz); None: on at the velocities it has."""
        self.world._set_motion(self.id, keys)

    def move_to(self, position, orientation=_IDENTITY, seconds=1.0):
        """A kinematic body goes there at constant velocity, and rests."""
        self.world._move_to(self.id, position, orientation, seconds)

    def distance(self, other):
        """How far the two are apart, m; 0 where they meet."""
        return self.world._distance(self.id, _id(other, self.world))

    @property
    def contact_force(self):
        """Sum of the contact forces on it in the last step, N: a force sensor."""
        return self.world.contact_forces[self.place] if self.place >= 0 else self.position

    def remove(self):
        """Removes it with its joints; bodies behind it move up by one place."""
        self.world._remove_body(self.id)


def _no_keys():
    import numpy

    return numpy.zeros((0, 2))


class Joint(_Handle):
    """A joint of a world."""
    __slots__ = ()

    def __repr__(self):
        if self.world.closed or self.place < 0:
            return "<tribo.Joint: gone>"
        return f"<tribo.Joint {self.type}: {self.coordinate:g}>"

    @property
    def type(self):
        return self.world._joint_def(self.id)[0]

    @property
    def bodies(self):
        """The two bodies; None stands for the world."""
        return tuple(None if id is None else Body(self.world, id) for id in self.world._joint_def(self.id)[1:3])

    @property
    def place(self):
        """Its row in the world's arrays of joints; −1: it was removed."""
        return self.world._joint_place(self.id)

    @property
    def coordinate(self):
        """Angle of a hinge (rad) or travel of a slider (m) from creation; length of a distance joint."""
        return self.world._joint_state(self.id)[0]

    @property
    def speed(self):
        """rad/s or m/s."""
        return self.world._joint_state(self.id)[1]

    @property
    def force(self):
        """On the second body at its anchor, N, mean over the last step."""
        return self.world._joint_state(self.id)[2]

    @property
    def torque(self):
        """On the second body about its anchor, N·m."""
        return self.world._joint_state(self.id)[3]

    @property
    def drive(self):
        """What the motor or servo brings, N or N·m."""
        return self.world._joint_state(self.id)[4]

    def set_limits(self, lower=None, upper=None):
        """None on both sides: no limits."""
        self.world._set_limits(self.id, None if lower is None and upper is None else (lower, upper))

    def set_motor(self, speed, force=math.inf):
        """Drives towards a speed with at most a force; speed None: no motor."""
        self.world._set_motor(self.id, speed is not None, speed or 0.0, force)

    def set_servo(self, target, stiffness=0.0, damping=0.0, force=math.inf):
        """Holds the coordinate at a target by stiffness and damping; target None: no servo."""
        self.world._set_servo(self.id, target is not None, target or 0.0, stiffness, damping, force)

    @property
    def effort(self):
        """A torque about the axis of a hinge, or a force along that of a slider (N·m or N), on the second body and
        back on the first, until it is changed; beside a motor or servo. Assign to set it."""
        return self.world._joint_def(self.id)[5]

    @effort.setter
    def effort(self, value):
        self.world._set_effort(self.id, value)

    @property
    def friction(self):
        """Dry friction of a hinge or slider: it resists with at most so much (N·m or N). Assign to set it."""
        return self.world._joint_def(self.id)[6]

    @friction.setter
    def friction(self, value):
        self.world._set_joint_friction(self.id, value)

    @property
    def armature(self):
        """Inertia that turns or travels with a hinge or slider, as a rotor behind a gear does (kg·m² or kg)."""
        return self.world._joint_def(self.id)[7]

    @armature.setter
    def armature(self, value):
        self.world._set_armature(self.id, value)

    @property
    def target(self):
        """Of its servo (of its motor: the speed); assign to move a servo."""
        return self.world._joint_def(self.id)[4]

    @target.setter
    def target(self, value):
        self.world._set_target(self.id, value)

    @property
    def name(self):
        """Its name, or None."""
        return self.world._joint_name(self.id)

    def follow(self, keys):
        """Lets its servo follow keys, rows of a time (s) and a target: straight lines between them. Of a motor: speeds.

        No keys: what is meant now stays.
        """
        keys = list(keys)
        self.world._set_keys(False, self.id, keys if keys else _no_keys())

    def follow_effort(self, keys):
        """The same of its effort: rows of a time (s) and a torque or force."""
        keys = list(keys)
        self.world._set_keys(True, self.id, keys if keys else _no_keys())

    def remove(self):
        self.world._remove_joint(self.id)


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

        @world.before_step           # forces and control: called with the world before every step
        def push(world):
            world["block"].apply(force=(3, 0, 0))

        moment = world.snapshot()    # … world.restore(moment): the same bits again

    Options of schemes and solvers have the names of scene files (tribo.options() lists them): world.set(solver="bgs",
    iterations=200) or world.set(**{"solver.order": "layers"}).

    A world serves one thread at a time: one that is being stepped raises RuntimeError in others. `close` frees it; a
    with statement does so at its end. Arrays are copies.
    """

    def __init__(self, name=None, gravity=(0, 0, -9.81), seed=0, threads=1, **options):
        super().__init__()
        self._create(name, gravity, seed)
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
        if not os.path.exists(path) and os.fspath(path) in {row[0] for row in _native.list_gallery()}:
            if values:
                raise ValueError("values: of a scene file; World.gallery takes parameters")
            return cls.gallery(os.fspath(path), threads=threads, **({"options": options} if options else {}))
        world._load(path, tuple(f"{key}={json.dumps(value, default=_plain)}" for key, value in (values or {}).items()))
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
        self._save_checkpoint(path)

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
        {'model': 'matchstick', 'mu', 'mu_t', 'mu_b', 'direction'}, {'model': 'tensor', 'matrix', 'kappa', 'direction'}
        or {'model': 'texture', 'texture', 'direction', 'scale', 'patch'} of World.add_texture;
        each may have 'static_ratio', 'stribeck' (m/s), 'tresca' (N), 'adhesion' (N) and 'restitution'.
        """
        return Material(self, self._add_material(name, density, friction, restitution))

    def material(self, name):
        """A material by name."""
        id = self._find_material(name)
        if id is None:
            raise _unknown("material", name, ())
        return Material(self, id)

    def add_texture(self, normals):
        """Normals of a surface's texture, height × width × 3 (x along the friction's direction, z out of the surface);
        a number for friction={'model': 'texture', 'texture': …}."""
        import numpy

        normals = numpy.asarray(normals, dtype=float)
        if normals.ndim != 3 or normals.shape[2] != 3:
            raise ValueError("normals: expected an array of height × width × 3")
        height, width, _ = normals.shape
        return self._add_texture(width, height, normals.reshape(-1, 3))

    def set_pair(self, a, b, friction, restitution=0.0):
        """What two materials do together, in place of the mean of both."""
        self._set_pair(_id(a, self), _id(b, self), friction, restitution)

    def set_pair_spring(self, a, b, stiffness, damping=0.0, coat=0.0):
        """How contacts of two materials give way, in place of both of theirs; as Material.set_spring."""
        self._set_pair_spring(_id(a, self), _id(b, self), stiffness, damping, coat)

    def add_body(self, shapes=(), position=_ZERO, orientation=_IDENTITY, *, name=None, motion="dynamic", material=None,
                 mass=0.0, density=0.0, inertia=None, velocity=_ZERO, angular_velocity=_ZERO, friction=None,
                 restitution=None, keys=None, bullet=False, category=1, mask=_ALL, centre_of_mass=None):
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
        return Body(self, self._add_body(name, motion, shapes, _id(material, self), mass, density, inertia, position,
                                         orientation, velocity, angular_velocity, friction, restitution, keys, bullet,
                                         category, mask, centre_of_mass))

    def add_soft(self, solid, position=_ZERO, orientation=_IDENTITY, *, name=None, model="corotated", young=1e6,
                 poisson=0.3, density=1000.0, mass_damping=0.0, stiffness_damping=0.0, material=None, friction=None,
                 velocity=_ZERO, angular_velocity=_ZERO, pins=(), springs=(), self_contact=True, category=1,
                 mask=_ALL):
        """A deformable solid: tribo.solid_box, tribo.solid_load, … pins: (nodes, body or None) each.

        springs        (node, node, stiffness in N/m) each, or with the length at rest in m
        """
        return Body(self, self._add_soft(name, solid, model, young, poisson, density, mass_damping, stiffness_damping,
                                         _id(material, self), friction, position, orientation, velocity,
                                         angular_velocity, self._pins(pins), self._springs(springs), self_contact, 0,
                                         "linear", None,
                                         category, mask))

    def add_reduced(self, solid, modes, position=_ZERO, orientation=_IDENTITY, *, basis="linear", basis_file=None,
                    name=None, young=1e6, poisson=0.3, density=1000.0, mass_damping=0.0, stiffness_damping=0.0,
                    material=None, friction=None, velocity=_ZERO, angular_velocity=_ZERO, pins=(), self_contact=True,
                    category=1, mask=_ALL):
        """A solid that deforms by a few modes of vibration in a frame that moves with it.

        modes       how many
        basis       'linear', or 'modal-derivatives' for large bending
        basis_file  where the modes are kept for the next time
        """
        if modes < 1:
            raise ValueError("modes: at least one")
        model = "stvk" if basis == "modal-derivatives" else "linear"
        return Body(self, self._add_soft(name, solid, model, young, poisson, density, mass_damping, stiffness_damping,
                                         _id(material, self), friction, position, orientation, velocity,
                                         angular_velocity, self._pins(pins), (), self_contact, modes, basis, basis_file,
                                         category, mask))

    def add_cloth(self, sheet, position=_ZERO, orientation=_IDENTITY, *, name=None, area_density=0.2, stretch=200.0,
                  shear=50.0, bend=1e-5, strain_limit=0.0, limit_stiffness=0.0, thickness=1e-3, air_damping=0.0, material=None, friction=None, velocity=_ZERO,
                  angular_velocity=_ZERO, pins=(), springs=(), self_contact=True, category=1,
                  mask=_ALL):
        """Cloth of a tribo.mesh, or of a grid ((width, height), (cells, cells)) in the plane z = 0.

        strain_limit   threads that are longer or shorter than at rest by more than this part resist with
                       limit_stiffness (0: 100 times stretch), too; 0: no limit
        springs        (node, node, stiffness in N/m) each, or with the length at rest in m
        """
        (width, height), (across, along) = ((0, 0), (0, 0)) if isinstance(sheet, _native.Shape) else sheet
        mesh = sheet if isinstance(sheet, _native.Shape) else None
        return Body(self, self._add_cloth(name, mesh, width, height, across, along, area_density, stretch, shear, bend,
                                          strain_limit, limit_stiffness, thickness, air_damping, _id(material, self), friction, position, orientation,
                                          velocity, angular_velocity, self._pins(pins), self._springs(springs), self_contact, category,
                                          mask))

    @staticmethod
    def _springs(springs):
        return tuple(tuple(s) if len(s) == 4 else (*s, -1.0) for s in springs)

    def _pins(self, pins):
        return tuple((nodes, _id(body, self), _ZERO, _ZERO, None) for nodes, body in pins)

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
        return Joint(self, self._add_joint(type, _id(a, self), _id(b, self), anchor, anchor_b, axis, limits, motor,
                                           servo, effort, friction, armature, compliance, damping, collide, name))

    def ignore_pair(self, a, b, ignore=True):
        """Two bodies pass through each other from now on, or no longer."""
        self._ignore_pair(_id(a, self), _id(b, self), ignore)

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
        return self._contact_forces()

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

    def ray(self, start, direction, length=math.inf, categories=_ALL):
        """The first thing that a ray meets, or None."""
        return self._hit(self._ray(start, direction, length, categories))

    def nearest(self, point, reach=math.inf, categories=_ALL):
        """The surface point nearest to a point, or None."""
        return self._hit(self._nearest(point, reach, categories))

    def _hit(self, found):
        return found and Hit(Body(self, found[0]), *found[1:])

    def overlap(self, low, high, categories=_ALL):
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
