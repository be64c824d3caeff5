# tribo run --control, --csv-joints, --csv-forces: an arm that follows a file, read back from another.
: "${claims:?this is a part of test/cli/run}"

cat >lever.json <<'SCENE'
{"tribo": 1, "dt": 0.01, "time": 2,
 "bodies": [
  {"name": "ground", "shape": {"type": "plane", "normal": [0, 0, 1], "offset": 0}, "fixed": true},
  {"name": "block", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "mass": 3, "position": [2, 0, 0.1]},
  {"name": "arm", "shape": {"type": "box", "size": [0.4, 0.05, 0.05]}, "mass": 1, "position": [0.2, 0, 1]},
  {"name": "rod", "shape": {"type": "box", "size": [0.05, 0.05, 0.3]}, "mass": 1, "position": [-1, 0, 1]}],
 "joints": [
  {"type": "hinge", "name": "shoulder", "b": "arm", "anchor": [0, 0, 1], "axis": [0, 0, 1], "servo": {"stiffness": 1000, "damping": 60}},
  {"type": "slider", "b": "rod", "axis": [0, 0, 1], "servo": {"stiffness": 1e5, "damping": 1000}}]}
SCENE
printf 't,shoulder,"1"\n0,0,0\n1, 0.5,\n1.5,0.5,0.2\n' >way.csv
t run lever.json --control way.csv --csv-joints j.csv --csv-forces f.csv --quiet
ended 0; claim "run --control, --csv-joints and --csv-forces end well"
[ "$(head -1 j.csv)" = "step,t,joint,coordinate,speed,effort,fx,fy,fz,tx,ty,tz" ] && [ "$(wc -l <j.csv)" -eq 401 ]; claim "--csv-joints has a row per step and joint"
awk -F, '$3 == "shoulder" && $1 == 50 { a = $4; s = $5 } $3 == "shoulder" && $1 == 200 { b = $4 } $3 == "1" && $1 == 200 { c = $4; e = $7 + $8 + $9 }
  END { exit !(a > 0.249 && a < 0.251 && s > 0.49 && s < 0.51 && b > 0.4999 && b < 0.5001 && c > 0.1998 && c < 0.2001 && e > 9.8 && e < 9.82) }' j.csv; claim "joints follow the file at its rate, and bear what they hold"
awk -F, '$3 == "block" && $1 == 200 { z = $6; n = $10; t = $7 * $7 + $8 * $8 } END { exit !(z > 29.42 && z < 29.44 && n == 4 && t < 1e-12) }' f.csv; claim "--csv-forces weighs a block"
t run lever.json --control way.csv --csv-joints - --quiet
ended 0 && cmp -s out j.csv; claim "--csv-joints - is standard output"
t run lever.json --control way.csv --time 0.7 --checkpoint half.ckp --quiet && t resume half.ckp --time 2 --csv-joints rest.csv --quiet
ended 0 && tail -2 rest.csv | cmp -s - <(tail -2 j.csv); claim "a resumed run follows the rest of the file"

refuse() { # words, what the file says, what the error says
  printf '%b' "$2" >bad.csv
  t run lever.json --control bad.csv --csv-joints bad.out --quiet
  ended 2 && one_line && says "$3" && [ ! -e bad.out ]; claim "--control refuses $1"
}
refuse "a joint like none that is there" 't,knee\n0,1\n' 'bad.csv:1:3: no joint is called "knee"; joints: shoulder$'
refuse "a joint that is not there" 't,sholder\n0,1\n' 'bad.csv:1:3: no joint is called "sholder"; did you mean "shoulder"?'
refuse "a file without times" 'shoulder\n0\n' 'bad.csv:1:1: the first column must be t'
refuse "times that go back" 't,shoulder\n0,1\n0,2\n' 'bad.csv:3:1: times must increase'
refuse "a row that is short" 't,shoulder,1\n0,1\n' 'bad.csv:2:4: fewer columns'
refuse "a row that is long" 't,shoulder\n0,1,2\n' 'bad.csv:2:4: more columns'
refuse "words" 't,shoulder\n0,fast\n' 'bad.csv:2:3: expected a number'
refuse "a joint twice" 't,shoulder,shoulder\n0,1,2\n' 'bad.csv:1:12: two columns are of the joint shoulder'
sed 's/"servo": {"stiffness": 1000, "damping": 60}/"motor": {"speed": 1, "force": 1000}/; s/"servo": {"stiffness": 1e5, "damping": 1000}/"effort": {"force": 0}/' lever.json >motor.json
printf 't,shoulder.speed,1.effort\n0,0,9.81\n1,0.5,9.81\n1.5,0.5,11.81\n' >speed.csv
t run motor.json --control speed.csv --csv-joints m.csv --quiet
ended 0; claim "--control takes speeds of motors and efforts"
awk -F, '$3 == "shoulder" && $1 == 50 { a = $5 } $3 == "shoulder" && $1 == 200 { b = $5; c = $4 } $3 == "1" && $1 == 100 { s = $5; e = $6 } $3 == "1" && $1 == 150 { v = $5 }
  END { exit !(a > 0.2499 && a < 0.2501 && b > 0.4999 && b < 0.5001 && c > 0.74 && c < 0.76 && s * s < 1e-12 && e > 9.8099 && e < 9.8101 && v > 0.4999 && v < 0.5001) }' m.csv; claim "motors and efforts follow the file"
t run motor.json --control speed.csv --time 0.7 --checkpoint half.ckp --quiet && t resume half.ckp --time 2 --csv-joints rest.csv --quiet
ended 0 && tail -2 rest.csv | cmp -s - <(tail -2 m.csv); claim "a resumed run follows the speeds and efforts of the file"
refuse "a speed of a servo" 't,shoulder.speed\n0,1\n' 'bad.csv:1:3: no motor moves the joint shoulder'
refuse "an effort twice" 't,shoulder.effort,shoulder.effort\n0,1,2\n' 'bad.csv:1:19: two columns are of the joint shoulder'
sed 's/, "servo": {"stiffness": 1000, "damping": 60}//' lever.json >plain.json
t run plain.json --control way.csv --quiet
ended 2 && one_line && says "neither a servo nor a motor moves the joint shoulder"; claim "--control refuses a joint that nothing drives"
