# Runs a script for Blender with just enough of Blender around it to see what it makes.
import os
import sys
import types
from unittest.mock import MagicMock

path = os.path.abspath(sys.argv[1])
bpy = types.ModuleType("bpy")
bpy.data, bpy.context, bpy.ops = MagicMock(), MagicMock(), MagicMock()
sys.modules["bpy"] = bpy
exec(compile(open(path, encoding="utf-8").read(), path, "exec"), {"__file__": path, "__name__": "__main__"})

vertices, edges, faces = bpy.data.meshes.new.return_value.from_pydata.call_args[0]
thing = bpy.data.objects.new.return_value
modifier = thing.modifiers.new.return_value
scene = bpy.context.scene
assert len(vertices) == 51 and len(faces) == 78 and edges == [], (len(vertices), len(faces))
assert all(0 <= i < 51 for face in faces for i in face)
thing.modifiers.new.assert_called_once_with("nodes", "MESH_CACHE")
assert modifier.cache_format == "PC2" and os.path.samefile(modifier.filepath, os.path.join(os.path.dirname(path), "nodes.pc2"))
assert (scene.frame_start, scene.frame_end) == (0, 4), (scene.frame_start, scene.frame_end)
assert abs(scene.render.fps / scene.render.fps_base - 200) < 1e-9
