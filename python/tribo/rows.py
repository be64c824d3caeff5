# SPDX-License-Identifier: Apache-2.0
"""What worlds answer with: named tuples of numbers and arrays."""
from collections import namedtuple


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


class Size(namedtuple("Size", "bodies shapes joints nodes tetrahedra triangles")):
    """What a world holds. Nodes, tetrahedra and triangles are those of deformable bodies; triangles those of cloth."""
    __slots__ = ()


class Meeting(namedtuple("Meeting", "t weights normal capped back depth closing")):
    """Where two features meet: tribo.ccd.

    t        moment, share of the step
    weights  of the four corners: where they meet
    normal   from the face, or the second edge, to the vertex, or the first edge
    capped   True: assumed, because the search was cut short
    back     s ago, where `seconds` was given; so are
    depth    overlap now of what met, m; negative: apart again
    closing  velocity of the second relative to the first, m/s
    """
    __slots__ = ()


class Rays(namedtuple("Rays", "distance body shape triangle point normal")):
    """What many rays have met: arrays of one row for each.

    distance  m along the ray; ∞: nothing
    body      its place in the world's arrays; −1: nothing
    shape     which shape of the body; −1: a deformable body's surface
    triangle  of a mesh; −1: none
    point     × 3
    normal    × 3, against the ray
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
