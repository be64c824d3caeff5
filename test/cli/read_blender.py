# In Blender, after nodes.py: every sample of the point cache is where Blender has the mesh.
#   blender -b --factory-startup --python-exit-code 1 --python nodes.py --python read_blender.py -- nodes.pc2
import array
import struct
import sys

import bpy

with open(sys.argv[-1], "rb") as file:
    _, _, points, first, _, samples = struct.unpack("<12siiffi", file.read(32))
    numbers = array.array("f", file.read())
scene, thing = bpy.context.scene, bpy.data.objects["nodes"]
assert (scene.frame_start, scene.frame_end) == (int(first), int(first) + samples - 1)
assert len(thing.data.vertices) == points and len(numbers) == 3 * points * samples
for sample in range(samples):
    scene.frame_set(scene.frame_start + sample)
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    for i, vertex in enumerate(shown.vertices):
        at = 3 * (sample * points + i)
        assert tuple(vertex.co) == tuple(numbers[at : at + 3]), (sample, i)
print(f"same: {samples} samples of {points} points")
