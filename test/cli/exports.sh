# tribo run --export and --trajectory: files that other programs read, read by those programs where they are there.
: "${claims:?this is a part of test/cli/run}"
repository=$(realpath "$here/../..")
python=/usr/bin/python3 # the distribution's own, with its packages

t run drop.json --out all --export gltf,usd,vtk,pc2,csv,replay --quiet; ended 0 && [ ! -s err ]; claim "run --export: all kinds at once"
[ "$(ls all | tr '\n' ' ')" = "contacts.csv metrics.json replay.trp scene.glb scene.usda trajectory.csv vtk " ]; claim "run --export: a file or a folder each, no nodes where nothing deforms"
[ "$(ls all/vtk/*.vtu | wc -l)" -eq 52 ] && ls all/vtk/bodies.pvd all/vtk/contacts.pvd >out; claim "vtk: two files a frame: 26 of 50 steps, two by two"
cp -r all before; t run drop.json --out all --export gltf,usd,vtk --quiet
cmp -s all/scene.glb before/scene.glb && cmp -s all/scene.usda before/scene.usda && cmp -s all/vtk/bodies-000007.vtu before/vtk/bodies-000007.vtu; claim "the same run twice: the same bytes"
t run drop.json --trajectory mine.trp --fps 10 --quiet; ended 0 && [ "$(head -c 4 mine.trp | tail -c 3)" = TRP ] && [ "$(stat -c %s mine.trp)" -lt "$(stat -c %s all/replay.trp)" ]; claim "--trajectory and --fps"
t run drop.json --out here --trajectory there.trp --quiet; ended 0 && [ -s there.trp ] && [ ! -e here/replay.trp ]; claim "--trajectory instead of the replay in --out"
mkdir -p clash; touch clash/vtk
t run drop.json --out clash --export vtk --quiet; ended 3 && one_line && [ "$(ls clash)" = vtk ]; claim "a file where a folder should be is 3, and nothing is left"
t run far.json --out flown --export gltf,usd,vtk --quiet; ended 3 && [ -s flown/replay.trp ] && [ -s flown/scene.glb ]; claim "a run that flies to infinity keeps the frames before"
t_signal INT run drop.json --time 1e6 --out stopped --export gltf,vtk; ended 130 && [ -s stopped/scene.glb ] && [ -s stopped/vtk/bodies.pvd ] && clean; claim "Ctrl-C keeps what was recorded"

# Scenes of every sort, for the validators.
t run jelly.json --out soft --export gltf,usd,vtk,pc2 --quiet; ended 0; claim "exports of what deforms"
for name in arch chain-links junkyard gears top; do
  t run "$repository/scenes/$name.json" --steps 12 --fps 0 --out "made-$name" --export gltf,vtk --quiet; ended 0; claim "exports of $name"
done

# From a replay, without running again.
t export soft/replay.trp --to gltf,usd,vtk,pc2 --out later; ended 0 && [ ! -s err ] && [ "$(ls later | tr '\n' ' ')" = "nodes.obj nodes.pc2 nodes.py scene.glb scene.usda vtk " ]; claim "export: all kinds of a replay"
t export all/replay.trp --to ./one.glb; ended 0 && [ -s one.glb ]; claim "export: by the file's ending"
cp all/replay.trp beside.trp; t export beside.trp --to usd --frames 3:7; ended 0 && grep -q "endTimeCode = 4" scene.usda; claim "export: beside the replay, and of some frames"
for bad in "" "--to gtlf" "--to mp4" "--to replay" "--to a.glb --out x" "--to usd --frames 9" "--to usd --frames 0:9999" "--to usd,"; do
  t export all/replay.trp $bad; ended 2 && one_line; claim "export $bad is 2"
done
t export all/replay.trp --to pc2 --out no-nodes; ended 2 && one_line && [ ! -e no-nodes ]; claim "export: no point cache where nothing deforms"
t export none.trp --to usd; ended 2 && one_line; claim "export: a file that is missing is 2"
head -c 3000 all/replay.trp >cut.trp; t export cut.trp --to cut.glb; ended 2 && one_line && says cut.trp && [ ! -e cut.glb ]; claim "export: a damaged replay is 2"
t export all/replay.trp --to nowhere/a.glb; ended 3 && one_line; claim "export: a folder that is missing is 3"
for to in cut.glb cut.usda vtk pc2; do
  mkdir -p tight; (ulimit -f 2; cd tight; "$tribo" export ../soft/replay.trp --to $to $([ "${to%.*}" = cut ] || echo --out .) >../out 2>../err </dev/null); [ $? -eq 3 ] && one_line && rmdir tight; claim "export $to: what finds no room is 3, and gone"
done

if ! command -v node >/dev/null; then skip "node is not installed" "replays by a reader in JavaScript"
else
  for folder in all soft made-arch made-gears; do
    timeout 60 node "$here/replay.mjs" "$folder/replay.trp" "$folder/trajectory.csv" >out 2>err; claim "$folder: a reader in JavaScript finds where everything is"
  done
fi
validator=$repository/build-npm/node_modules/gltf-validator
if ! command -v node >/dev/null || [ ! -d "$validator" ]; then skip "gltf-validator is not installed (scripts/setup --test)" "glTF by Khronos' validator"
else
  timeout 60 node -e "
    const fs = require('fs'), validator = require('$validator');
    (async () => {
      for (const file of process.argv.slice(1)) {
        const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
        if (report.issues.numErrors + report.issues.numWarnings) {
          console.error(file, JSON.stringify(report.issues.messages.slice(0, 3)));
          process.exitCode = 1;
        }
      }
    })();" -- all/scene.glb soft/scene.glb made-*/scene.glb flown/scene.glb stopped/scene.glb later/scene.glb one.glb >out 2>err
  claim "glTF: Khronos' validator finds no error and no warning"
fi
tinyusdz=$repository/build-npm/node_modules/tinyusdz
if ! command -v node >/dev/null || [ ! -d "$tinyusdz" ]; then skip "tinyusdz is not installed (scripts/setup --test)" "USD by another reader"
else
  timeout 60 node "$here/read_usd.mjs" "$tinyusdz" all/scene.usda=1 soft/scene.usda=2 flown/scene.usda=1 later/scene.usda=2 >out 2>err; claim "USD: TinyUSDZ parses it"
  sed 's/def Mesh "shape_0"/deff Mesh "shape_0"/' all/scene.usda >bad.usda; ! timeout 60 node "$here/read_usd.mjs" "$tinyusdz" bad.usda=1 >out 2>err; claim "USD: and not anything"
fi
if ! "$python" -c 'import vtkmodules.vtkIOXML' 2>/dev/null; then skip "python3-vtk9 is not installed (scripts/setup --test)" "VTU by VTK itself"
else
  timeout 60 "$python" "$here/read_vtk.py" all/vtk soft/vtk made-*/vtk later/vtk >out 2>err; claim "VTU: VTK reads every frame: points, cells, velocities, forces"
fi
if ! command -v "$python" >/dev/null; then skip "python3 is not installed" "the script for Blender"
else
  timeout 60 "$python" "$here/fake_blender.py" soft/nodes.py >out 2>err; claim "nodes.py: makes a mesh of 51 vertices and 78 faces, and plays 5 steps on it"
fi
if command -v blender >/dev/null; then # not installed by scripts/setup: half a gigabyte
  for folder in soft later; do
    timeout 60 blender -b --factory-startup --python-exit-code 1 --python $folder/nodes.py --python "$here/read_blender.py" -- $folder/nodes.pc2 >out 2>err && grep -q "^same" out; claim "$folder/nodes.py: Blender itself plays every sample"
  done
fi
