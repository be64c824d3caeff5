# tribo run: the impulses of contacts.csv are those that moved the bodies of trajectory.csv.
: "${claims:?this is a part of test/cli/run}"

cat >balance.awk <<'AWK'
# awk -v masses="name=kg …" -v h=STEP -v told=N·s -f balance.awk contacts.csv trajectory.csv: of every body and step, m Δv less
# m g h and the contacts' impulses. Ends with 1 where more is left than rounding and what was told, or where hardly a contact pressed.
function miss(m, d, g, p) { return m * d - m * g * h - p }
function size(x) { return x < 0 ? -x : x }
BEGIN { FS = ","; n = split(masses, pair, " "); for (i = 1; i <= n; i++) { split(pair[i], kv, "="); mass[kv[1]] = kv[2] } }
FNR == 1 { file++; next }
file == 1 {
  bx = $9 * $21 - $10 * $20; by = $10 * $19 - $8 * $21; bz = $8 * $20 - $9 * $19
  x = $12 * $8 + $13 * $19 + $14 * bx; y = $12 * $9 + $13 * $20 + $14 * by; z = $12 * $10 + $13 * $21 + $14 * bz
  px[$1, $4] += x; py[$1, $4] += y; pz[$1, $4] += z
  px[$1, $3] -= x; py[$1, $3] -= y; pz[$1, $3] -= z
  total[$1, $4] += size(x) + size(y) + size(z); total[$1, $3] += size(x) + size(y) + size(z)
  next
}
$3 in mass {
  m = mass[$3]; k = $1 SUBSEP $3
  if ($3 in vx) {
    left = size(miss(m, $11 - vx[$3], 0, px[k])) + size(miss(m, $12 - vy[$3], 0, py[k])) + size(miss(m, $13 - vz[$3], -9.81, pz[k]))
    scale = m * (size($11) + size($12) + size($13) + size(vx[$3]) + size(vy[$3]) + size(vz[$3]) + 9.81 * h) + total[k]
    pressed += total[k] > 0; seen++
    if (!(left <= 1e-10 * scale + 2 * told)) { print "step " $1 ", " $3 ": " left " N·s of " scale " unaccounted"; bad = 1 }
  }
  vx[$3] = $11; vy[$3] = $12; vz[$3] = $13
}
END { if (seen < 20 || pressed < 5) { print seen " steps of bodies, " pressed " with contacts"; bad = 1 } exit bad }
AWK

cat >struck.json <<'SCENE'
{"tribo": 1, "dt": 0.01, "time": 0.4, "materials": {"rubber": {"friction": 0.4, "restitution": 0.6}},
 "bodies": [
  {"name": "ground", "shape": {"type": "plane", "normal": [0, 0, 1], "offset": 0}, "fixed": true},
  {"name": "plate", "shape": {"type": "box", "size": [0.001, 4, 4]}, "fixed": true, "position": [3, 0, 0]},
  {"name": "block", "shape": {"type": "box", "size": [1, 1, 1]}, "mass": 2, "position": [0, 0, 0.52], "velocity": [3, 1, 0]},
  {"name": "ball", "shape": {"type": "sphere", "radius": 0.3}, "mass": 0.5, "material": "rubber", "position": [0.1, 0, 1.45], "velocity": [0, 0, -4]},
  {"name": "shot", "shape": {"type": "box", "size": [0.04, 0.03, 0.02]}, "mass": 0.01, "position": [-1, 1, 1], "velocity": [300, 0, 0], "angular_velocity": [3, 20, 1]}
 ]}
SCENE
cat >pressed.json <<'SCENE'
{"tribo": 1, "dt": 0.005, "time": 0.15,
 "bodies": [
  {"name": "ground", "shape": {"type": "plane", "normal": [0, 0, 1], "offset": 0}, "fixed": true},
  {"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "mass": 0.5, "position": [0.02, 0, 0.34], "velocity": [0.3, 0, -3]}],
 "soft": [{"name": "jelly", "mesh": {"box": {"size": 0.2, "cells": 2}}, "young": 5e4, "density": 1000, "position": [0, 0, 0.12], "velocity": [1, 0, 0]}]}
SCENE
# What a scheme takes from a body that would go too far (slowed, short_of) is the report's to tell.
balances() { # scheme, masses, h, scene
  t run "$4" --scheme "$1" --csv v.csv --csv-contacts c.csv --metrics m.json --quiet
  ended 0 && awk -v masses="$2" -v h="$3" -v told="$(value slowed m.json)" -f balance.awk c.csv v.csv >out
}
schemes=$("$tribo" list schemes | sed -n 's/^\([a-z][a-z-]*\) .*/\1/p')
movers() { "$tribo" list matrix | sed -n "s/^\([a-z-]*\)  .*\b$1\b.* bodies.*/\1/p"; }
for scheme in $schemes; do
  balances $scheme "block=2 ball=0.5 shot=0.01" 0.01 struck.json; claim "contacts.csv balances momentum: $scheme"
done
sed 's/"time": 0.4,/&"scheme": {"name": "semi-implicit", "stabilization": {"kind": "projection"}},/' struck.json >moved.json
t run moved.json --csv v.csv --csv-contacts c.csv --quiet
ended 0 && awk -v masses="block=2 ball=0.5 shot=0.01" -v h=0.01 -f balance.awk c.csv v.csv >out; claim "contacts.csv balances momentum: projection"
sed '/"soft":/d; s/"position": \[0.02, 0, 0.34\]/"position": [0.02, 0, 0.22]/; s/-3\]}\],/-3]}],\
 "cloth": [{"name": "sheet", "mesh": {"grid": {"size": [0.4, 0.4], "cells": [4, 4]}}, "area_density": 1, "stretch": 300, "shear": 100, "bend": 0.001, "position": [0, 0, 0.04], "velocity": [1, 0, -1]}]}/' pressed.json >draped.json
sed 's/"soft": \[{/"reduced": [{"modes": 5, /' pressed.json >modal.json
[ -n "$(movers deformable)" ] && [ -n "$(movers reduced)" ]; claim "list matrix says who moves what"
for scheme in $(movers reduced); do
  balances $scheme "jelly=8 ball=0.5" 0.005 modal.json; claim "contacts.csv balances momentum: a reduced body, $scheme"
done
for scheme in $(movers deformable); do
  balances $scheme "sheet=0.16 ball=0.5" 0.005 draped.json; claim "contacts.csv balances momentum: cloth, $scheme"
  balances $scheme "jelly=8 ball=0.5" 0.005 pressed.json; claim "contacts.csv balances momentum: a solid, $scheme"
done
balances implicit "jelly=8 ball=0.5" 0.005 pressed.json
awk -F, -v OFS=, 'NR > 1 { $19 = -$19; $20 = -$20; $21 = -$21 } { print }' c.csv >turned.csv
! awk -v masses="jelly=8 ball=0.5" -v h=0.005 -f balance.awk turned.csv v.csv >out; claim "… and not with another tangent"

# Few iterations under a heavy box: boxes fall into each other, but none hangs in the air while its velocity grows.
cp "$here/../../scenes/heavy-top.json" heavy.json
t run heavy.json --max-iter 30 --time 6 --csv v.csv --metrics m.json --quiet
ended 0 && awk -F, -v h=0.0166666666666667 -v short="$(value short_of m.json)" '
  NR > 1 && ($3 in x) { dx = $4 - x[$3] - h * $11; dy = $5 - y[$3] - h * $12; dz = $6 - z[$3] - h * $13
    if (sqrt(dx * dx + dy * dy + dz * dz) > 0.5 * 9.82 * h * h + short) { print "step " $1 ", " $3 " is not where its velocity takes it"; bad = 1 }
    seen++ }
  { x[$3] = $4; y[$3] = $5; z[$3] = $6 }
  END { exit bad || seen < 3000 }' v.csv >out; claim "positions follow velocities that a solver left on its way"
