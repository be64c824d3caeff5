# SPDX-License-Identifier: Apache-2.0
"""Contact and friction: worlds, contact problems, solvers and the judge that certifies what they return.

    import tribo

    world = tribo.World()
    world.add_body(tribo.plane(), motion="fixed")
    cube = world.add_body(tribo.box((1, 1, 1)), position=(0, 0, 2))
    report = world.step(100)
    print(cube.position, report.residual, "m/s")

    problem = world.problem()                     # the coming step's contact problem, frozen
    for row in problem.compare(["bgs", "ipm"]):   # rows for pandas
        print(row)

World and Problem teach the rest: help(tribo.World), help(tribo.Problem). Numbers go in as anything of the buffer
protocol (numpy arrays of any stride and real type) or as sequences, and come out as numpy arrays; they are copies, but
for the plain arrays of a Problem, which never changes: those are read-only views. Without numpy arrays are memoryviews.
SI units; quaternions are (w, x, y, z).
"""
from ._native import (ArgumentError, Cancelled, Error, FileError, InputError, NumericError, OutOfMemory, Report, Residual,
                      Shape, Snapshot, Solid, UnsupportedError, box, capsule, convex, cylinder, load_convex, load_mesh, mesh,
                      plane, solid, solid_box, solid_cylinder, solid_load, solid_ring, solid_sphere, solid_torus, sphere, tube)
from . import _native
from .problem import Problem, Solution, Workspace
from .replay import Frame, Replay
from .handles import Body, Grip, Joint, Material
from .rows import Contacts, Energy, History, Hit, Meeting, Rays, Size
from .world import World, batch

__version__ = _native.version()


def solvers():
    """The solvers by name: {name: (summary, reference)}."""
    return {name: (summary, reference) for name, summary, reference in _native.list_solvers()}


def schemes():
    """The time-stepping schemes by name: {name: (summary, reference)}."""
    return {name: (summary, reference) for name, summary, reference in _native.list_schemes()}


def options():
    """Every option of World.set and Problem.solve: {key: (unit or None, what it does)}."""
    return {key: (unit, text) for key, unit, text in _native.list_options()}


def gallery():
    """The scenes of World.gallery: {name: (summary, {parameter: (default, low, high, summary)})}."""
    return {name: (summary, {p[0]: p[1:] for p in parameters})
            for name, summary, parameters, files in _native.list_gallery()}


def build():
    """What this build has: {'simd', 'cholesky', 'orderings', 'fclib', 'robots'}."""
    return _native.build()


def schema():
    """The JSON Schema of scene files, as a dict."""
    import json
    return json.loads(_native.scene_schema())


def check(scene, folder=None):
    """All that is wrong with a scene, not the first thing alone: (line, column, message) each; [] if it is good.

    scene   a scene file, or a dict of one; its meshes are relative to `folder`
    """
    if not isinstance(scene, dict):
        return _native.check_scene(scene, None, None)
    import json
    import os
    from .world import _plain
    return _native.check_scene("scene", json.dumps(scene, default=_plain, indent=1), None if folder is None else os.fspath(folder))


def load_point_cache(path, scale=(1, 1, 1)):
    """The points of a PC2 file over time, samples × points × 3: frames for World.add_animated."""
    points = _native.load_points(path, scale)
    return points.reshape(len(points), -1, 3)


def contact_spring(dt, erp, cfm):
    """(stiffness, damping) of Material.set_spring that do in steps of dt what an error reduction 0 < erp ≤ 1 and a constraint
    force mixing cfm > 0 (1/kg) do."""
    return _native.contact_spring(dt, erp, cfm)


def ccd(start, end, edges=False, *, separation=0.0, delta=0.0, method="inclusion", seconds=0.0):
    """Whether and when a vertex and a triangle meet, or two edges, whose corners move along straight lines: a Meeting or None.

    start, end   4 × 3: the vertex and the triangle, or the ends of both edges; where corners are before, and after
    separation   m: closer than this is a meeting
    delta        m: what comes within separation + delta may be called one, too; 0: what doubles can tell
    method       'inclusion' never misses one; 'cubic' and 'multivariate' are the literature's
    seconds      of the step: then `back`, `depth` and `closing` of the Meeting look back from the end of it
    """
    met = _native.ccd(edges, start, end, method, separation, delta, seconds)
    return met and Meeting(*met)


def import_robot(path, scene=None, floating=False, key=None, joints=None):
    """A robot's file, URDF or MJCF, as a scene: (dict, notes).

    scene     where to write the scene file; None: nowhere. Meshes are named from its folder, else by whole paths
    floating  URDF: the root link moves freely
    key       MJCF: the <key> that the scene starts with
    joints    {name: angle or travel} that hinges and sliders start with
    notes     what the file says that is not in the scene, a line each with file and line
    """
    import json
    import os
    folder = None if scene is None else os.path.dirname(os.fspath(scene)) or "."
    text, notes = _native.import_robot(path, folder, floating, key, tuple((joints or {}).items()))
    if scene is not None:
        with open(scene, "w", encoding="utf-8") as file:
            file.write(text)
    return json.loads(text), notes


def _scene_text(scene):
    import json
    import os
    from .world import _plain
    if isinstance(scene, dict):
        return json.dumps(scene, default=_plain), "."
    path = os.fspath(scene)
    if not os.path.isfile(path) and path in gallery():
        return _native.print_gallery(path), "."
    with open(path, encoding="utf-8") as file:
        return file.read(), os.path.join(os.path.dirname(path), "")


def gradient(scene, loss, wrt, method="auto", **options):
    """The gradient of where a body ends by numbers of the scene: (loss, {name: gradient}, facts).

    scene     a scene file, a dict of one, or the name of a scene of the gallery
    loss      (name, point): the squared distance of the body's position from the point at the end of the run
    wrt       names of numbers: "ball.velocity", "wood.friction", "joints.0.motor.speed"
    method    "auto", "tangent", "adjoint" or "differences" (of whole runs, to check the others by)
    options   as for World.set
    facts     "method"; "unstable": how many steps have contacts that change right at the run, "unstable_steps": the first
              of them; "nearby": how many have some that change within a hundred-thousandth of it, where differences of runs
              may see another slope; "ambiguous": contact problems whose velocities the law leaves open
    """
    text, folder = _scene_text(scene)
    at, values, used, steps, unstable, nearby, ambiguous = _native.gradient(text, folder, _loss(loss), _names(wrt), method, options)
    return at, values, {"method": used, "unstable": unstable, "unstable_steps": steps, "nearby": nearby, "ambiguous": ambiguous}


def optimize(scene, target, wrt, bounds=None, iterations=50, tolerance=1e-4, method="auto", **options):
    """Searches for numbers of the scene that bring a body to a point, by L-BFGS: (distance, {name: value}, scene as a dict).

    target     (name, point)
    bounds     {name: (lower, upper)}
    tolerance  m: close enough
    Other arguments are those of gradient.
    """
    import json
    text, folder = _scene_text(scene)
    at, values, converged, done, found = _native.optimize(text, folder, _loss(target), _names(wrt), method, options,
                                                          dict(bounds or {}), iterations, tolerance)
    return at ** 0.5, values, json.loads(found)


def _loss(pair):
    name, point = pair
    x, y, z = (float(c) for c in point)
    return f"{name}:{x!r},{y!r},{z!r}"


def _names(wrt):
    return wrt if isinstance(wrt, str) else ",".join(wrt)


def __getattr__(name):  # what needs matplotlib or writes pages is imported when it is asked for
    if name == "plot":
        import importlib
        return importlib.import_module("tribo.plot")
    if name == "show":
        from .notebook import show
        return show
    raise AttributeError(f"module 'tribo' has no attribute '{name}'")
