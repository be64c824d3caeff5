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
                      plane, solid, solid_box, solid_load, solid_sphere, sphere)
from . import _native
from .problem import Problem, Solution
from .world import Body, Contacts, Energy, Hit, History, Joint, Material, World, batch

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


def import_robot(path, scene=None, floating=False):
    """A robot's file, URDF or MJCF, as a scene: (dict, notes).

    scene     where to write the scene file; None: nowhere. Meshes are named from its folder, else by whole paths
    floating  URDF: the root link moves freely
    notes     what the file says that is not in the scene, a line each with file and line
    """
    import json
    import os
    folder = None if scene is None else os.path.dirname(os.fspath(scene)) or "."
    text, notes = _native.import_robot(path, folder, floating)
    if scene is not None:
        with open(scene, "w", encoding="utf-8") as file:
            file.write(text)
    return json.loads(text), notes


def __getattr__(name):  # what needs matplotlib or writes pages is imported when it is asked for
    if name == "plot":
        import importlib
        return importlib.import_module("tribo.plot")
    if name == "show":
        from .notebook import show
        return show
    raise AttributeError(f"module 'tribo' has no attribute '{name}'")
