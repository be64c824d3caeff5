# SPDX-License-Identifier: Apache-2.0
"""Recorded runs."""
from collections import namedtuple

from . import _native


class Frame(namedtuple("Frame", "time step scalars positions orientations nodes contacts")):
    """A frame of a Replay, copies.

    time
    step
    scalars       {name: number} of Replay.scalars: energies, residual, iterations, …
    positions     × 3, m, of Replay.bodies
    orientations  × 4: w, x, y, z
    nodes         × 3, m, of the deformable bodies, one after the other
    contacts      × 14: bodies a and b, position, normal, impulse on b (N·s), gap, share of the frame's largest residual, state
    """
    __slots__ = ()


class Replay:
    """A recorded run, read frame by frame: what `tribo run --out` and World.record_to write (replay.trp).

        replay = tribo.Replay("out/replay.trp")
        len(replay), replay.bodies, replay.scalars
        replay[-1].positions                       # the last frame
        replay.at(0.5).contacts                    # the last one at or before a time
        heights = [frame.positions[3, 2] for frame in replay]
    """

    def __init__(self, path):
        import json
        self._native = _native.replay(path)
        self._header = json.loads(self._native._header())

    def __len__(self):
        return self._native._count()

    def __getitem__(self, frame):
        count, index = len(self), frame.__index__()
        if not -count <= index < count:
            raise IndexError(f"frame {index} of {count}")
        return Frame(*self._native._read(index % count, self.scalars))

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"<tribo.Replay: {len(self)} frames of {len(self.bodies)} bodies>"

    def image(self, frame=-1, size=(1280, 720), *, path=None, samples=3, dark=False, contacts=True, overlay=True,
              camera="fit", eye=(0, 0, 0), target=(0, 0, 0), threads=1):
        """A frame as a picture, height × width × 3 bytes, drawn without a display; path: a PNG file of it, too.

        samples   × samples in a pixel, 1 to 4
        contacts  draws contacts and forces; overlay: text and the residual's curve
        camera    'fit', 'orbit', or 'fixed': from `eye` to `target`
        `tribo render` makes videos.
        """
        import numpy
        if camera not in ("fit", "orbit", "fixed"):
            raise ValueError("camera: 'fit', 'orbit' or 'fixed'")
        index, count, (width, height) = frame.__index__(), len(self), size
        if not -count <= index < count:
            raise IndexError(f"frame {index} of {count}")
        index %= count
        shown = (0, count - 1) if camera == "orbit" else (index, index)  # what the camera has to see
        pixels = self._native._image(index, shown, width, height, samples, dark, contacts, overlay, camera, eye,
                                     target, threads, path)
        return numpy.frombuffer(pixels, dtype=numpy.uint8).reshape(height, width, 3)

    def export(self, kind, path, first=0, last=-1):
        """Frames as another kind of recording: 'gltf', 'usd', 'vtk', 'pc2', 'csv' (docs/exports.md), as far as a replay
        knows; last −1: to the end."""
        self._native._export(kind, path, first, last)

    def at(self, time):
        """The last frame at or before a time; the first one for earlier times."""
        return self[self._native._find(time)]

    @property
    def header(self):
        """The file's own description of the run, as a dict (docs/trajectory-format.md)."""
        return self._header

    @property
    def bodies(self):
        """Names of the bodies with a pose, in the order of Frame.positions; None for those without a name."""
        posed = sorted((body["pose"], body.get("name")) for body in self.header["bodies"] if "pose" in body)
        return [name for _, name in posed]

    @property
    def scalars(self):
        """Names of what every frame has one number of."""
        return list(self.header["scalars"])
