# SPDX-License-Identifier: Apache-2.0
"""Handles of what is in a world: materials, bodies, joints, grips."""
import math

from . import _native
from .problem import reals
from .rows import Hit

IDENTITY = (1.0, 0.0, 0.0, 0.0)
ZERO = (0.0, 0.0, 0.0)
ALL = 0xFFFFFFFF


class _Handle:
    __slots__ = ("world", "id")

    def __init__(self, world, id):
        self.world, self.id = world, id

    def __eq__(self, other):
        return type(other) is type(self) and other.world is self.world and other.id == self.id

    def __hash__(self):
        return hash((id(self.world), self.id))


def id_of(handle, world, kind, what):
    """The id of a handle of that kind; None stays None."""
    if handle is None:
        return None
    if not isinstance(handle, kind):
        by_name = {"Body": "world[name]", "Material": "world.material(name)"}[kind.__name__]
        raise TypeError(f"{what}: expected a tribo.{kind.__name__}, as {by_name} gives, not {type(handle).__name__}")
    if handle.world is not world:
        raise _native.ArgumentError(f"{what}: this is of another world")
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


def frames(vertices):
    """(frames, vertices, 3) as a row for every frame."""
    array = reals(vertices, "vertices")
    return array.reshape(len(array), -1) if array.ndim == 3 else array


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
        """'dynamic', 'fixed' or 'kinematic' of rigid bodies; 'soft', 'cloth', 'reduced', 'animated'."""
        return self.world._body_kind(self.id)

    @property
    def place(self):
        """Its row in the world's arrays; −1: it was removed."""
        return self.world._body_place(self.id)

    @property
    def mass(self):
        """kg; 0: not moved by forces."""
        return self.world._body_get_mass(self.id)

    @property
    def asleep(self):
        """Whether the last step left it where it was (option `sleep`), and nothing has woken it since."""
        return self.world._body_asleep(self.id)

    @property
    def inertia(self):
        """About the centre of mass, body axes: xx, yy, zz, xy, xz, yz; zeros of what does not move freely."""
        return self.world._body_inertia(self.id)

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

    def apply(self, force=ZERO, torque=ZERO, at=None):
        """A force (N) on the centre of mass or at a point of the world, and a torque, for the next step only."""
        if at is None:
            self.world._apply(self.id, force, torque)
        else:
            self.world._apply_at(self.id, force, at)
            self.world._apply(self.id, ZERO, torque)

    @property
    def load(self):
        """What acts on it in every step, beside `apply`: rows of t, force × 3 (N) and torque × 3 (N·m); no rows: nothing."""
        return self.world._load_of(self.id)

    def set_load(self, keys=None, force=ZERO, torque=ZERO):
        """A force on the centre of mass and a torque, world axes, in every step from now on.

        keys   rows of (t, fx, fy, fz, tx, ty, tz), straight lines between them; None: `force` and `torque`, constant.
               No rows: no load any more
        """
        self.world._set_load(self.id, keys, force, torque)

    def grip(self, point):
        """Holds it by a point, as a pointer does: a Grip to move and to pull by."""
        return Grip(self, point)

    def apply_nodes(self, forces):
        """Forces on the nodes of a deformable body, × 3, N, for the next step only."""
        self.world._apply_nodes(self.id, forces)

    def pin(self, nodes, to=None, velocity=ZERO, angular_velocity=ZERO, keys=None):
        """Holds nodes from now on: by the world, or by a rigid body."""
        self.world._pin(self.id, (nodes, id_of(to, self.world, Body, "to"), velocity, angular_velocity, keys))

    def unpin(self, nodes):
        self.world._unpin(self.id, nodes)

    def set_material(self, material):
        self.world._body_material(self.id, id_of(material, self.world, Material, "material"))

    def set_friction(self, friction):
        """Its own; None: the material's."""
        self.world._body_friction(self.id, friction)

    def set_restitution(self, restitution):
        """Its own; None: the material's."""
        self.world._body_restitution(self.id, restitution)

    def set_filter(self, category=1, mask=ALL):
        """Two bodies, rigid or not, touch where each has a category that the other's mask has."""
        self.world._set_filter(self.id, category, mask)

    def set_motion(self, keys=None):
        """Of a kinematic body: rows of (t, x, y, z, qw, qx, qy, qz); None: on at the velocities it has."""
        self.world._set_motion(self.id, keys)

    def set_frames(self, times, vertices):
        """Where the vertices of an animated mesh go from now on: times (frames,), vertices (frames, vertices, 3)."""
        self.world._set_frames(self.id, times, frames(vertices))

    def move_to(self, position, orientation=IDENTITY, seconds=1.0):
        """A kinematic body goes there at constant velocity, and rests."""
        self.world._move_to(self.id, position, orientation, seconds)

    def distance(self, other):
        """How far the two are apart, m; 0 where they meet."""
        return self.closest(other)[0]

    def closest(self, other):
        """(distance, point on it, point on the other); 0 where they meet, ∞ where one has no shape."""
        return self.world._distance(self.id, id_of(other, self.world, Body, "other"))

    def nearest(self, point, reach=math.inf):
        """The point of its surface nearest to a point, as a Hit; None: none within reach."""
        return self.world._hit(self.world._body_nearest(self.id, point, reach))

    @property
    def shapes(self):
        """Its shapes in its frame (copies), a dict each with the keys of scene files: 'type', 'position', 'orientation',
        'size', 'radius', …; of hulls 'vertices', of meshes and distance grids 'vertices' and 'triangles'. Rigid bodies."""
        return self.world._body_shapes(self.id)

    @property
    def dofs(self):
        """Degrees of freedom; 0: it is not moved by forces."""
        return self.world._body_dofs(self.id)

    @property
    def elements(self):
        """How many tetrahedra, or triangles of cloth, a deformable body is cut into; 0: it is rigid."""
        return self.world._body_elements(self.id)[0]

    @property
    def contact_force(self):
        """Sum of the contact forces on it in the last step, N: a force sensor."""
        return self.world.contact_forces[self.place] if self.place >= 0 else self.position

    @property
    def contact_torque(self):
        """Sum of the torques of the contact forces about its position in the last step, N·m."""
        return self.world.contact_torques[self.place] if self.place >= 0 else self.position

    def remove(self):
        """Removes it with its joints; bodies behind it move up by one place. Its meshes and hulls are freed with the world."""
        self.world._remove_body(self.id)


class Grip:
    """A body held by one of its points: Body.grip.

        grip = world["block"].grip((0, 0, 1))
        grip.target = (1, 0, 1)              # wherever the point has to go
        world.before_step(lambda world: grip.pull())

    The point is pulled as by a critically damped spring of its own weight there: as firm for a feather as for a house.
    """

    __slots__ = ("body", "target", "_grip")

    def __init__(self, body, point):
        self.body, self.target = body, point
        self._grip = body.world._grip(body.id, point)

    @property
    def point(self):
        """Where the held point is now; of deformable bodies, the nearest node."""
        return self.body.world._grip_point(self.body.id, self._grip, self.target)

    def pull(self):
        """Pulls in the next step."""
        self.body.world._grip_pull(self.body.id, self._grip, self.target)


def _keys(rows):
    """Rows, from anything that can be gone through."""
    rows = rows if hasattr(rows, "__len__") else list(rows)
    return rows if len(rows) else []


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
        self.world._set_keys(False, self.id, _keys(keys))

    def follow_effort(self, keys):
        """The same of its effort: rows of a time (s) and a torque or force."""
        self.world._set_keys(True, self.id, _keys(keys))

    def remove(self):
        self.world._remove_joint(self.id)
