# Gradients and searches.
: "${claims:?this is a part of test/cli/run}"

cat >throw.json <<'SCENE'
{"tribo": 1, "dt": 0.01, "time": 0.3, "materials": {"rubber": {"friction": 0.2, "restitution": 0.7}},
 "bodies": [{"name": "ground", "fixed": true, "material": "rubber", "shape": {"type": "plane"}},
  {"name": "ball", "mass": 0.5, "material": "rubber", "position": [0, 0, 0.3], "velocity": [2, 0, -2],
   "shape": {"type": "sphere", "radius": 0.1}}]}
SCENE
t gradient throw.json --loss ball:0.5,0,0.3 --wrt ball.velocity,ball.mass,rubber.friction --json
ended 0 && [ "$(wc -l <out)" -eq 1 ] && grep -q '^{"loss":[0-9.e-]*,"gradient":{"ball.velocity":\[[0-9.e,-]*\],"ball.mass":[0-9.e-]*,"rubber.friction":[0-9.e-]*},' out && [ ! -s err ]; claim "gradient --json: loss and gradient first"
t gradient throw.json --loss ball:0.5,0,0.3 --wrt ball.velocity --check
ended 0 && grep -q "by differences" out && grep -qE "apart from differences by [0-9.]+e-(0[789]|1[0-9])$" out; claim "gradient --check: differences agree"
t gradient throw.json --loss ball:0.5,0,0.3 --wrt ball.velocity --json
ended 0 && grep -q '"smooth":true,"verified":[0-9.]*e-' out; claim "gradient: a smooth one is verified by runs"
sed 's/\[0, 0, 0.3\], "velocity": \[2, 0, -2\]/[0, 0, 0.1], "velocity": [2, 0, 0]/' throw.json >rest.json
t gradient rest.json --loss ball:0.5,0,0.3 --wrt ball.position --json
ended 0 && grep -q '"smooth":false' out; claim "gradient: one with two sides is told"
t gradient throw.json --loss bal:0,0,0 --wrt ball.velocity; ended 2 && one_line && says 'did you mean "ball"'; claim "gradient: a body that is not there"
t gradient throw.json --loss ball:0,0,0 --wrt ball.velocty; ended 2 && one_line && says '^throw.json:3:3: .*did you mean "velocity"'; claim "gradient: a key that is not there, at its place"
t gradient throw.json --loss ball:0,0,0 --wrt ball.velocity --method tangnt; ended 2 && one_line && says 'did you mean "tangent"'; claim "gradient: a method that is not there"
t gradient throw.json --wrt ball.velocity; ended 2 && one_line && says '^usage: tribo gradient'; claim "gradient wants a loss"
t gradient nowhere.json --loss ball:0,0,0 --wrt ball.velocity; ended 2 && one_line; claim "gradient: a file that is not there"
t gradient throw.json --loss ball:0.5,0,0.3 --wrt ball.velocity.y,ball.velocity.x; ended 0 && grep -q "velocity.y  -*0  (it has no effect)" out && [ "$(grep -c effect out)" -eq 1 ]; claim "gradient: a number without effect is told"
t gradient throw.json --loss ball:0,0,0 --wrt ball; ended 2 && one_line && says 'as in "ball.velocity"'; claim "gradient: a body is no number"
t gradient --help; ended 0 && grep -q "^usage: tribo gradient" out; claim "gradient --help"

t optimize throw.json --for ball.velocity --target ball:0.5,0.1,0.3 --out found
ended 0 && grep -q "^wrote found" out && [ -s found/optimized.json ] && [ -s found/convergence.svg ] && [ -s found/iterate-000.trp ] &&
  [ "$(wc -l <found/convergence.csv)" -eq "$(($(ls found/iterate-*.trp | wc -l) + 1))" ]; claim "optimize leaves the scene, the curve and replays"
"$tribo" run found/optimized.json --quiet --csv - | tail -1 | awk -F, '{exit !(($4-0.5)^2+($5-0.1)^2+($6-0.3)^2 < 1e-6)}'; claim "optimize: the scene that was found hits within a millimetre"
t optimize throw.json --for ball.velocity --target ball:0.5,0.1,0.3 --bounds ball.velocity=-9:0 --iterations 5 --json --strict
ended 1 && grep -q '"arrived":false' out && grep -q '"values":{"ball.velocity":\[' out; claim "optimize: out of reach within bounds"
t optimize throw.json --for ball.velocity --target ball:0.5,0.1,0.3 --bounds ball.velocty=0:1; ended 2 && one_line && says 'did you mean "ball.velocity"'; claim "optimize: bounds of nothing"
t optimize throw.json --for rubber.restitution --target ball:0.6,0,2 --no-replays --json; ended 0 && grep -qE '"rubber.restitution":(1|0.99)' out; claim "optimize: up to the end of what a number may be"
t optimize throw.json --for rubber.friction --target ground:1,0,0 --quiet; ended 0 && grep -q "none of them has an effect" out; claim "optimize: numbers without effect are told"
t optimize --help; ended 0 && grep -q "^usage: tribo optimize" out; claim "optimize --help"
