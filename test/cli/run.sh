# tribo run and resume: what they write, what they refuse, what they leave behind when something goes wrong.
: "${claims:?this is a part of test/cli/run}"

cat >drop.json <<'SCENE'
{"tribo": 1, "name": "drop", "dt": 0.01, "time": 0.5,
 "bodies": [
  {"name": "ground", "shape": {"type": "plane", "normal": [0, 0, 1], "offset": 0}, "fixed": true},
  {"name": "block", "shape": {"type": "box", "size": [1, 1, 1]}, "mass": 2, "position": [0, 0, 0.52], "velocity": [3, 0, 0]},
  {"name": "ball, \"red\"", "shape": {"type": "sphere", "radius": 0.3}, "position": [0.1, 0, 1.6], "angular_velocity": [0, 1, 2]}
 ]}
SCENE
value() { sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*$/\1/p" "$2"; } # of a number or a text in an object of metrics
same_state() { [ -n "$(value state_hash "$1")" ] && [ "$(value state_hash "$1")" = "$(value state_hash "$2")" ]; }

t run drop.json --out ran; ended 0 && [ ! -s err ] && grep -q "^drop: 50 steps of 0.01 s" out; claim "run: a summary in words, nothing on standard error"
[ "$(ls ran | tr '\n' ' ')" = "contacts.csv metrics.json replay.trp trajectory.csv " ]; claim "run --out: four files"
for key in tribo scene scheme solver threads steps dt time wall_s ms_per_step median p95 max phase_ms collide assemble solve integrate judge \
  contacts mean dofs iterations residual unconverged_steps max_penetration intersections changes damped damping stopped short_of projected turned trimmed energy kinetic potential elastic momentum \
  state_hash peak_rss_bytes status bodies name position orientation velocity angular_velocity; do
  grep -q "^ *\"$key\": " ran/metrics.json || { echo "no $key" >err; false; }; claim "metrics has $key"
done
[ "$(value status ran/metrics.json)" = ok ] && [ "$(value steps ran/metrics.json)" = 50 ] && [ "$(value time ran/metrics.json)" = 0.5 ]; claim "metrics: status, steps, time"
[ "$(value dofs ran/metrics.json)" = 12 ] && value state_hash ran/metrics.json | grep -Eq '^[0-9a-f]{16}$'; claim "metrics: degrees of freedom, hash"
awk '/"ms_per_step"/ { on = 1 } on && NF == 2 && $2 != "{" { v[n++] = $2 + 0 } /}/ { on = 0 } END { exit !(n == 3 && 0 < v[0] && v[0] <= v[1] && v[1] <= v[2]) }' ran/metrics.json; claim "metrics: median, then p95, then max"
[ "$(grep -c '"orientation"' ran/metrics.json)" -eq 3 ] && grep -qF '"name": "ball, \"red\""' ran/metrics.json; claim "metrics: every body, names escaped"
[ "$(head -1 ran/trajectory.csv)" = "step,t,name,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz" ]; claim "trajectory: header"
[ "$(wc -l <ran/trajectory.csv)" -eq 151 ] && grep -q '^50,0.5,"ball, ""red""",' ran/trajectory.csv; claim "trajectory: a row per step and body"
awk -F, '$3 == "block" { if (NF != 16) exit 1; n++ } END { exit n != 50 }' ran/trajectory.csv; claim "trajectory: sixteen columns"
[ "$(head -1 ran/contacts.csv)" = "step,t,a,b,px,py,pz,nx,ny,nz,gap,ln,lt,lb,un,ut,ub,state,tx,ty,tz" ]; claim "contacts: header"
awk -F, 'NR > 1 && $4 == "block" { if (NF != 21 || $18 !~ /^(open|stick|slip)$/) exit 1; n++ } END { exit n < 4 }' ran/contacts.csv; claim "contacts: a row per contact"

# What deforms: a solid of 27 nodes and a cloth of 24, 4 steps.
cat >jelly.json <<'SCENE'
{"tribo": 1, "dt": 0.005, "time": 0.02,
 "soft": [{"name": "jelly", "mesh": {"box": {"size": 0.2, "cells": 2}}, "young": 2e4, "position": [0, 0, 1]}],
 "cloth": [{"name": "a sheet", "mesh": {"grid": {"size": 1, "cells": [3, 5]}}, "pins": [{"box": [[-0.5, -1, -1], [-0.5, 1, 1]]}]}]}
SCENE
t run jelly.json --out soft --export csv,pc2; ended 0 && [ ! -s err ] && grep -q "crossings    0 of surfaces" out; claim "run: a scene that deforms"
[ "$(ls soft | tr '\n' ' ')" = "contacts.csv metrics.json nodes.obj nodes.pc2 nodes.py replay.trp trajectory.csv " ]; claim "run --out: the nodes of what deforms"
[ "$(value dofs soft/metrics.json)" = 153 ] && [ "$(value intersections soft/metrics.json)" = 0 ] && [ "$(value scheme soft/metrics.json)" = implicit ]; claim "metrics: three degrees of freedom a node, no crossings"
[ "$(grep -c '^v ' soft/nodes.obj)" = 51 ] && [ "$(grep -c '^f ' soft/nodes.obj)" = 78 ] && grep -q '^g a_sheet$' soft/nodes.obj; claim "nodes.obj: every node, and the surfaces"
[ "$(wc -c <soft/nodes.pc2)" = $((32 + 5 * 51 * 12)) ] && [ "$(od -A n -t d4 -j 12 -N 20 soft/nodes.pc2 | tr -s ' ')" = " 1 51 0 1065353216$(echo)
 5" ]; claim "nodes.pc2: a frame for the start and for every step"
awk -F, '$3 == "jelly" { n++; if (NF != 16 || $7 != 1 || $8 != 0 || $14 != 0 || $4^2 > 1e-20 || $13 >= 0) exit 1; z = $6 } END { exit !(n == 4 && z < 1 && z > 0.99) }' soft/trajectory.csv; claim "trajectory: the centre of mass of what deforms"

t run drop.json --quiet; ended 0 && [ ! -s out ] && [ ! -s err ]; claim "run --quiet is silent"
t run drop.json --csv c.csv --csv-contacts k.csv --metrics m.json; cmp -s c.csv ran/trajectory.csv && cmp -s k.csv ran/contacts.csv && same_state m.json ran/metrics.json; claim "the same run twice: the same bytes"
t run drop.json --threads 3 --csv c3.csv; ended 0 && cmp -s c.csv c3.csv; claim "threads do not change a run"
t run drop.json --steps 7 --csv c7.csv; ended 0 && head -22 c.csv | cmp -s - c7.csv; claim "--steps ends early"
t run drop.json --dt 0.003 --time 0.01 --metrics m.json; [ "$(value steps m.json)" = 4 ]; claim "--dt and --time: as many steps as it takes"
t run drop.json --steps 0 --metrics m.json; ended 0 && [ "$(value steps m.json)" = 0 ] && [ "$(value status m.json)" = ok ]; claim "no steps at all"
t run drop.json --scheme moreau --solver bgs --metrics m.json; ended 0 && [ "$(value scheme m.json)$(value solver m.json)" = moreaubgs ]; claim "--scheme and --solver"
t run drop.json --solver bgs --set solver.order=random --set scheme.stabilization.kind=none --metrics m.json; ended 0; claim "--set reaches every option"
t run drop.json --steps 0 --set gravity=[0,0,0] --set 'bodies.1.velocity=[0,0,7]' --metrics m.json; ended 0 && grep -q '"velocity": *\[0, *0, *7\]' m.json; claim "--set reaches what the scene holds"
t run drop.json --set time=0.03 --metrics m.json; ended 0 && [ "$(value steps m.json)" = 3 ]; claim "--set time, as --time"
t run stack --steps 1 --set 'bodies.nobody.mass=9'; ended 2 && one_line && says 'no element of that name or number: "nobody"'; claim "--set names what the scene does not have"
t run stack --steps 1 --set 'materials.*.friction=-1'; ended 2 && one_line && says "^materials..*friction=-1:1:1: "; claim "--set: a value of the scene out of range"
t run drop.json --set solver.ordr=random; ended 2 && grep -q 'did you mean "solver.order"' err; claim "--set: the nearest key"
t run drop.json --set solver.relaxation=3; ended 2 && grep -q 'from 0 to 2' err; claim "--set: the range"
t list options; ended 0 && grep -q '^solver.order .*given.*layers' out; claim "list options"
t run drop.json --solver pgs --model box --metrics m.json; ended 0 && [ "$(value model m.json)" = box ]; claim "--model"
t run drop.json --solver bgs --max-iter 1 --tol 0 --metrics m.json; ended 0 && [ "$(value unconverged_steps m.json)" -gt 0 ]; claim "missed tolerances are counted"
t run drop.json --solver bgs --max-iter 1 --tol 0 --strict --metrics m2.json; ended 1 && [ -s m2.json ]; claim "--strict: 1, after the run"
t run drop.json --strict; ended 0; claim "--strict: 0 when all is well"

t run drop.json --steps 20 --dump-problems dumped --quiet; ended 0 && [ ! -e dumped/step-000020.hdf5 ]
last=$(ls dumped/step-0000* | tail -1); [ -n "$last" ]; claim "--dump-problems: a file per step"
t solve "$last" --json; ended 0 && grep -q '"status":"converged"' out; claim "dumped problems can be solved"
t compare drop.json --step 19 --solvers bgs,pgs; ended 0 && grep -q "bgs *converged" out; claim "compare takes a scene"
sed 's/0.52/8/; s/1.6/20/' drop.json >high.json; t compare high.json --solvers bgs; ended 2 && one_line && says "^high.json: nothing touches"; claim "compare: a step where nothing touches"

# Checkpoints.
t run drop.json --metrics whole.json --quiet
for n in 1 13 49; do
  t run drop.json --steps $n --checkpoint part.ckp --quiet && t resume part.ckp --time 0.5 --metrics rest.json --csv rest.csv --quiet
  ended 0 && same_state whole.json rest.json; claim "resumed after step $n: the same bits"
  [ "$(value resumed_at rest.json)" = $n ] && tail -n +$((3 * n + 2)) c.csv >want && tail -n +2 rest.csv | cmp -s want -; claim "resumed after step $n: the rest of the rows"
done
t run drop.json --checkpoint every.ckp --every 20 --quiet; t resume every.ckp --metrics m.json --quiet; ended 0 && same_state whole.json m.json; claim "a checkpoint at the end"
t resume every.ckp; ended 0 && says 'is at its end, 0.5 s; use --time or --steps to continue beyond it'; claim "resume says that nothing is left to do"
t resume every.ckp --steps 5 --metrics m.json; ended 0 && [ "$(value steps m.json)" = 55 ]; claim "resume --steps goes beyond"
rm -rf moved; mkdir moved; cp part.ckp moved/; (cd moved && "$tribo" resume part.ckp --quiet); claim "a checkpoint needs no other file"

# Refusals: one line, 2.
refuse() { t "${@:2}"; ended 2 && one_line; claim "$1"; }
refuse "run: no scene" run
refuse "run: two scenes" run drop.json drop.json
refuse "run: a missing scene" run missing.json; says "^missing.json: "; claim "a missing scene is named"
refuse "run: an unknown option" run drop.json --outt x; says -- "--out"; claim "the nearest option"
refuse "run: an unknown scheme" run drop.json --scheme moreu; says moreau; claim "the nearest scheme"
refuse "run: an unknown solver" run drop.json --solver bgz
refuse "run: an unknown model" run drop.json --model cones
refuse "run: a model the solver does not have" run drop.json --solver lemke --model cone
refuse "run: dt 0" run drop.json --dt 0
refuse "run: a negative time" run drop.json --time -1
refuse "run: --time and --steps" run drop.json --time 1 --steps 5
refuse "run: --every without --checkpoint" run drop.json --every 5
refuse "run: two outputs in one file" run drop.json --csv x --metrics x
refuse "run: an export that is not there" run drop.json --export gltg --out x; says "did you mean gltf"; claim "the nearest export"
refuse "run: an export without a folder" run drop.json --export gltf; says "needs the folder of --out"; claim "which is said"
refuse "run: negative frames" run drop.json --fps -1 --out x; [ ! -e x ]; claim "and no folder is made"
refuse "run: no threads" run drop.json --threads 0
sed 's/"radius"/"raduis"/' drop.json >bad.json; refuse "run: a bad scene" run bad.json; says "^bad.json:[0-9]*:[0-9]*: .*radius"; claim "a bad scene: where, and the nearest key"
refuse "resume: a missing checkpoint" resume missing.ckp
refuse "resume: a scene is no checkpoint" resume drop.json; says "not a checkpoint"; claim "which is said too"
head -c 1000 part.ckp >cut.ckp; refuse "resume: a cut checkpoint" resume cut.ckp; says "cut short"; claim "a cut checkpoint is called one"
{ head -c 600 part.ckp; printf X; tail -c +602 part.ckp; } >bad.ckp; refuse "resume: a damaged checkpoint" resume bad.ckp

# Ctrl-C: the step is finished, everything is written, 130; and the run goes on from there.
t_signal INT run drop.json --time 1e6 --checkpoint stop.ckp --csv stop.csv --metrics stop.json; ended 130 && [ "$(value status stop.json)" = interrupted ]; claim "Ctrl-C ends a run with 130"
n=$(value steps stop.json); [ "$n" -gt 0 ] && [ "$(wc -l <stop.csv)" -eq $((3 * n + 1)) ] && clean; claim "an interrupted run keeps its rows"
t resume stop.ckp --steps 9 --metrics a.json --quiet; t run drop.json --steps $((n + 9)) --metrics b.json --quiet; same_state a.json b.json; claim "an interrupted run goes on to the same bits"
t_signal TERM run drop.json --time 1e6 --quiet; ended 130; claim "a terminated run is 130"

sed 's/"dt"/"gravity": [0, 0, 1e200], "dt"/' drop.json >far.json
t run far.json --csv far.csv --metrics far.json.out --checkpoint far.ckp; ended 3 && [ "$(wc -l <err)" -eq 1 ] && [ "$(value status far.json.out)" = failed ]; claim "a run that flies to infinity fails with 3"
[ "$(wc -l <far.csv)" -gt 1 ] && [ ! -e far.ckp ] && grep -q '"kinetic": null' far.json.out; claim "and keeps its rows, without a checkpoint"

# Disks that are full, folders that are not there: 3, nothing half-written, the last checkpoint intact.
if [ -w /dev/full ]; then
  for o in --csv --csv-contacts --metrics --checkpoint --trajectory; do
    t run drop.json $o /dev/full --quiet; ended 3 && one_line; claim "a full disk under $o is 3"
  done
fi
t run drop.json --csv missing/x.csv; ended 3 && one_line; claim "--csv into a missing folder is 3"
t run drop.json --out drop.json; ended 3 && one_line; claim "--out onto a file is 3"
cp part.ckp kept.ckp; echo old >old.csv
(ulimit -f 16; "$tribo" run drop.json --time 10 --csv old.csv --checkpoint kept.ckp --metrics new.json --out full/a >out 2>err); code=$?
ended 3 && one_line && says "csv: File too large"; claim "a file beyond its limit is 3"
[ "$(cat old.csv)" = old ] && [ ! -e new.json ] && [ ! -e full ] && cmp -s kept.ckp part.ckp && clean; claim "and leaves everything as it was"
clean; claim "no temporary files are left by runs"

# Standard output by name, and what killed runs leave.
"$tribo" run drop.json --csv - >out 2>err; code=$?
ended 0 && cmp -s out ran/trajectory.csv && says "^drop: 50 steps"; claim "run --csv -: rows on standard output, the summary on standard error"
"$tribo" run drop.json --csv-contacts - --quiet >out 2>err; code=$?
ended 0 && cmp -s out ran/contacts.csv && [ ! -s err ]; claim "run --csv-contacts -"
"$tribo" run drop.json --metrics - --quiet >out 2>err; code=$?
ended 0 && same_state out ran/metrics.json && [ ! -s err ] && [ ! -e - ]; claim "run --metrics -"
"$tribo" run drop.json --csv - --quiet 2>err | head -1 >out; [ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s err ]; claim "run --csv - | head -1"
t run drop.json --csv - --metrics -; ended 2 && one_line && says "two outputs go to standard output"; claim "run: standard output takes one of them"
t run drop.json --checkpoint -; ended 2 && one_line && says "takes a file"; claim "run --checkpoint - is refused"
"$tribo" run - --quiet --metrics m1.json <drop.json >out 2>err; code=$?
ended 0 && same_state m1.json ran/metrics.json; claim "run - reads the scene from standard input"
"$tribo" run drop.json --steps 1000000000 --out killed --quiet & pid=$!
for try in {1..100}; do [ "$(ls killed 2>/dev/null | wc -l)" -ge 4 ] && break; sleep 0.05; done
kill -KILL $pid; wait $pid 2>/dev/null
[ "$(ls killed | grep -c tmp-)" -ge 4 ]; claim "a killed run leaves its temporary files"
t run drop.json --out killed; ended 0 && [ "$(ls killed | tr '\n' ' ')" = "contacts.csv metrics.json replay.trp trajectory.csv " ]; claim "the next run cleans them up"

# Ctrl-C inside of a step that would never end: answered at once, the step has not happened, the last one is kept.
sed 's/"dt"/"solver": {"name": "pgs", "tolerance": 0, "velocity_tolerance": 0, "iterations": 2000000000}, "dt"/; s/0.52/0.5/' drop.json >endless_step.json
begun=$(date +%s)
t_signal INT run endless_step.json --checkpoint endless.ckp --metrics endless_run.json
ended 130 && [ "$(value status endless_run.json)" = interrupted ] && [ $(($(date +%s) - begun)) -lt 15 ]; claim "Ctrl-C inside of a step is answered at once"
[ -s endless.ckp ] && [ "$(value steps endless_run.json)" -lt 50 ] && clean; claim "and the last finished step is in the checkpoint"
begun=$(date +%s)
t_signal INT resume endless.ckp --checkpoint again.ckp --quiet; ended 130 && cmp -s endless.ckp again.ckp && [ $(($(date +%s) - begun)) -lt 15 ]; claim "so it is when a run goes on, to the same bytes"
# A second Ctrl-C while the first is answered: the command ends, and the checkpoint of before or the new one is whole.
begun=$(date +%s)
t_signal "INT INT" resume endless.ckp --checkpoint endless.ckp --quiet; ended 130 && [ $(($(date +%s) - begun)) -lt 15 ]; claim "a second Ctrl-C ends it, too"
cmp -s endless.ckp again.ckp; claim "and harms no checkpoint"
t run endless_step.json --steps 12 --budget-ms 5 --metrics hurried.json --quiet; ended 0 && [ "$(value unconverged_steps hurried.json)" -gt 0 ]; claim "run --budget-ms takes the best of each step"
refuse "run: a negative budget" run drop.json --budget-ms -1
