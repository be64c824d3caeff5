# Scene files: check, schema, list.
: "${claims:?this is a part of test/cli/run}"

cat >scene.json <<'SCENE'
{"tribo": 1, "name": "a ball", "bodies": [
  {"name": "ground", "shape": {"type": "plane"}, "fixed": true},
  {"name": "ball", "shape": {"type": "sphere", "radius": 1}, "mass": 2, "position": [0, 0, 1]}]}
SCENE
sed 's/"radius"/"raduis"/' scene.json >typo.json
printf '{"tribo": 1, "dt": 0}' >still.json
printf '{"tribo": 1, "soft": [{}]}' >soft.json
printf '{"tribo": 1, "reduced": [{}]}' >reduced.json
cat >jelly.json <<'SCENE'
{"tribo": 1, "dt": 0.005, "time": 0.02,
 "soft": [{"name": "jelly", "mesh": {"box": {"size": 0.2, "cells": 2}}, "young": 2e4, "position": [0, 0, 1]}],
 "cloth": [{"name": "a sheet", "mesh": {"grid": {"size": 1, "cells": [3, 5]}}, "pins": [{"box": [[-0.5, -1, -1], [-0.5, 1, 1]]}]}]}
SCENE
printf '{"tribo": 1, "bodies": [{"shape": {"type": "mesh", "file": "no.obj"}}]}' >mesh.json
printf '{"tribo": 1,' >cut.json

t check scene.json; ended 0 && [ ! -s err ] && [ "$(wc -l <out)" -eq 1 ] &&
  grep -q "^scene.json: 2 bodies (1 free), 2 shapes, 0 joints, 2 kg" out; claim "check says what is in a scene"
t check typo.json; ended 2 && one_line && says '^typo.json:3:48: unknown key "raduis"; did you mean "radius"?$'; claim "check names the nearest key"
t check still.json; ended 2 && one_line && says '^still.json:1:20: '; claim "check: a step of 0"
t check soft.json; ended 2 && one_line && says '^soft.json:1:23: missing key "mesh"'; claim "check: a soft body of nothing"
t check reduced.json; ended 2 && one_line && says '^reduced.json:1:26: missing key "mesh" for "reduced"$'; claim "check: a reduced body of nothing"
t check jelly.json; ended 0 && grep -q "2 bodies (0 free, 1 soft, 1 cloth), 0 shapes, 0 joints, 51 nodes, 40 tetrahedra, 30 triangles of cloth, " out; claim "check counts what soft bodies and cloth are made of"
t check mesh.json; ended 2 && one_line && says '^mesh.json:1:60: .*no.obj: No such file'; claim "check: a mesh that is not there"
t check cut.json; ended 2 && one_line && says '^cut.json:1:13: '; claim "check: a file cut short"
t check nowhere.json; ended 2 && one_line && says '^nowhere.json: cannot be read: No such file'; claim "check: a file that is not there"
t check .; ended 2 && one_line && says 'directory'; claim "check: a folder"
t check good.json; ended 2 && one_line && says 'tribo solve'; claim "check: a contact problem is no scene"
t check scene.json typo.json scene.json; ended 2 && [ "$(wc -l <out)" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ]; claim "check goes on after a bad file"
t check; ended 2 && one_line; claim "check wants a scene"
t check --help; ended 0 && grep -q "^usage: tribo check" out && [ ! -s err ]; claim "check --help"
mkdir -p elsewhere && cp scene.json elsewhere/
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n' >elsewhere/no.obj && cp mesh.json elsewhere/
t check elsewhere/mesh.json; ended 0; claim "check: mesh files are beside the scene"

t schema; ended 0 && grep -q 'draft/2020-12' out && [ ! -s err ]; claim "schema"
t schema --keys; ended 0 && grep -q '^| `gravity` | 3 numbers | \[0, 0, -9.81\]' out; claim "schema --keys"
t schema --help; ended 0 && grep -q "^usage: tribo schema" out; claim "schema --help"
t schema scene.json; ended 2 && one_line; claim "schema takes no file"
t list schemes; ended 0 && grep -q "^semi-implicit " out; claim "list schemes"
t list matrix; ended 0 && [ "$(grep -c "^bgs .*●" out)" -eq 2 ] && grep -q "^ipm .*◐.*W, blocks" out; claim "list matrix: solvers, laws, schemes"
t list friction; ended 0 && grep -Eq "^coulomb .* linear +no +no +no +yes +yes$" out && grep -Eq "^tensor .* linear +no +yes +no +no +yes$" out && grep -Eq "^tresca .* constant " out && grep -Eq "^stribeck .* linear +yes " out && [ "$(grep -Ec "^texture .* yes +yes +yes +yes$" out)" -eq 2 ]; claim "list friction: what each model does, measured"
t list scenes; ended 0 && grep -q "^ *incline  *block on an incline" out; claim "list scenes: the gallery, by the names that stand for files"
t list --help; ended 0 && [ "$(grep -c "^  [a-z]" out)" -eq 10 ]; claim "list --help says what each list is of"
mkdir -p scenes && cp scene.json typo.json scenes/ && printf '{}' >scenes/other.json
t list scenes; ended 0 && grep -q "^scenes/scene.json  *a ball$" out && ! grep -q "scenes/other" out; claim "list scenes: in ./scenes"
rm -r scenes
if python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
  t schema
  python3 - out scene.json typo.json still.json soft.json reduced.json jelly.json >log 2>err <<'PYTHON'
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
valid = [jsonschema.Draft202012Validator(schema).is_valid(json.load(open(f))) for f in sys.argv[2:]]
sys.exit(valid != [True, False, False, False, False, True])
PYTHON
  claim "the schema accepts and refuses as check does"
fi

# All errors of a file, and what is no error.
cat >mistakes.json <<'SCENE'
{"tribo": 1, "dt": 0,
 "bodies": [
  {"name": "ball", "shape": {"type": "sphere", "raduis": 1}},
  {"name": "box", "shape": {"type": "box", "size": [1, 1, 1]}, "material": "wod"}],
 "joints": [{"type": "weld", "a": "ball", "b": "bx"}, {"type": "weld", "a": "bax"}],
 "bdies": []}
SCENE
t check mistakes.json; ended 2 && [ ! -s out ] && [ "$(cut -d: -f2 err | tr '\n' ' ')" = "1 3 4 5 6 " ] &&
  says '3:48: unknown key "raduis"; did you mean "radius"?$' && says '4:76: unknown material "wod"$' && says '6:2: unknown key "bdies"; did you mean "bodies"?$'; claim "check reports every error, and none twice"
t run mistakes.json; ended 2 && one_line && says '^mistakes.json:1:20: '; claim "run stops at the first"
cat >inside.json <<'SCENE'
{"tribo": 1, "bodies": [
  {"name": "ground", "shape": {"type": "plane"}, "fixed": true},
  {"name": "crate", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0, 0, 0.5]},
  {"name": "sunk", "shape": {"type": "sphere", "radius": 1}, "position": [9, 0, 0.75]}]}
SCENE
t check inside.json; ended 0 && [ "$(wc -l <out)" -eq 1 ] && [ "$(cat err)" = 'inside.json: warning: "ground" and "sunk" overlap by 0.25 m at the start' ]; claim "check warns of bodies that overlap, which is no error"
