# tribo compare: the table, the JSON, one problem or many.
: "${claims:?this is a part of test/cli/run}"

t compare good.json; ended 0 && grep -q "^good.json" out && [ ! -s err ]; claim "a table, and silence on standard error"
for s in $solvers; do grep -Eq "^ +([0-9]+|–)  $s " out; claim "the table has $s"; done
awk '/ converged / { if (done || $(NF-6) < last) exit 1; last = $(NF-6); next } $1 ~ /^[0-9]+$/ { done = 1 }' out; claim "ranked: converged first, by time"
awk '$1 ~ /^[0-9]+$/ && $1 != ++n { exit 1 }' out; claim "ranks count from one"
[ "$(ls -A | grep -c tmp)" -eq 0 ] && [ ! -e report.html ] && [ ! -e results.csv ]; claim "without --out nothing is written"
t compare good.json --solvers pgs,bgs,pgs; ended 0 && [ "$(grep -Ec '^ +[0-9]+  ' out)" -eq 2 ]; claim "--solvers, without repeats"
t compare good.json --solvers pgs,bgs --model ccp; ended 0 && grep -Eq '^ +–  pgs  +it ' out; claim "who cannot solve it is listed with the reason"
t compare endless.json --max-iter 20 --solvers bgs,pgs --strict; ended 1; claim "compare --strict: a missed tolerance is 1"
t compare endless.json --max-iter 20 --solvers bgs,pgs; ended 0 && grep -q "max_iterations" out; claim "without --strict it is 0"
t compare good.json "$nasty" --solvers bgs; ended 0 && ! grep -q "$(printf '\033')" out; claim "names cannot steer the terminal"
t compare good.json missing.json --out o; ended 2 && one_line && [ ! -e o ]; claim "a missing second problem stops before the first runs"

# Two methods that solve a contact by the same equations are one opinion.
printf '{"tribo_problem": 1, "W": [[1,0,0],[0,1,0],[0,0,1]], "contacts": [{"law": "elliptic", "mu_t": 0.5, "mu_b": 0, "bias": [-1, 0.5, 0]}]}' >boxed.json
t compare boxed.json --solvers newton-fb,newton-ac --out lent; ended 0 && grep -q '^  newton-fb: 1 of 1 contacts by the equations of newton-ac' out && ! grep -q '^  newton-ac: ' out; claim "borrowed equations are said"
grep -q 'by the equations of newton-ac' lent/report.html && grep -q 'by the equations of newton-ac' lent/results.tex; claim "in the report too"
t compare good.json --solvers newton-fb,newton-ac; ended 0 && ! grep -q 'by the equations' out; claim "on a friction cone they have their own"

# The residual in m/s, with what it is held against.
t solve good.json --velocity-tol 1e-4; ended 0 && grep -Eq '^  velocity .*m/s.* ≤ 10⁻⁴ m/s$' out && grep -Eq '^  residual .* ≤ 10⁻⁸$' out; claim "solve: residuals beside their tolerances"
t compare good.json --solvers bgs --velocity-tol 1e-4 --out speed; ended 0 && head -3 out | grep -q ' m/s ' && grep -q '≤ 10⁻⁴</td>' speed/report.html && grep -q 'and 0.0001 m/s' speed/report.html && grep -q '10^{-4}\$~m/s' speed/results.tex; claim "compare: the residual in m/s, on the page and in the paper too"
t solve endless.json --solver bgs --max-iter 5 --json; just=$(sed 's/.*"velocity":\([^,]*\).*/\1/' out | awk '{ printf "%.17g", 0.9999 * $1 }')
t solve endless.json --solver bgs --max-iter 5 --velocity-tol "$just"; ended 0 && awk '/^  velocity/ { seen = 1; if ($(NF - 2) != ">" || $(NF - 3) == $(NF - 1)) exit 1 } END { exit !seen }' out; claim "a residual just over its tolerance does not read the same"
awk -F, 'NR == 2 { exit !($NF > 0 && $NF <= 1e-4) }' speed/results.csv; claim "compare: the residual in m/s in results.csv"

# The start, and how often each solver runs.
t compare good.json --solvers bgs --repeat 3 --json; ended 0 && grep -q '"start":{"kind":"guess","residual":[0-9.e+-]*,"suffices":false}' out && grep -q '"runs":3,' out; claim "--repeat 3 runs three times; --json says what the start was"
grep -o '"time[a-z_]*":[0-9.e-]*' out | tr ':' ' ' | awk '{ t[$1] = $2 } END { exit !(t["\"time_min_s\""] <= t["\"time_s\""] && t["\"time_s\""] <= t["\"time_max_s\""]) }'; claim "the median lies between the fastest and the slowest"
t compare good.json --solvers bgs --repeat 3; ended 0 && grep -Eq ' converged .* [0-9.]+–[0-9.]+ ' out && grep -q '^  Start: a guess, residual ' out; claim "the table has the spread, and the start"
t compare good.json --solvers bgs --repeat 1 --cold; ended 0 && grep -q '^  Start: zero, ' out && grep -Eq ' converged +[0-9]+ +[0-9.]+ +– ' out; claim "one run has no spread"
cat >resting.json <<'END'
{"tribo": 1, "time": 1, "bodies": [{"name": "ground", "shape": {"type": "plane"}, "fixed": true},
 {"name": "box", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0, 0, 0.5]}]}
END
t compare resting.json --step 20 --solvers bgs,pgs; ended 0 && grep -q '^  Start: zero, ' out && ! grep -Eq ' converged +0 ' out; claim "a scene's problem is raced from zero"
t compare resting.json --step 20 --solvers bgs,pgs --warm --profile --out warm; ended 0 && grep -q '^  The start, a guess, already meets the tolerance' out && grep -Eq 'bgs +converged +0 ' out; claim "--warm: a start that is good enough is called so"
grep -q 'already meets the tolerance' warm/report.html && grep -q 'already meets the tolerance' warm/results.tex; claim "on the page and in the table for a paper too"
grep -q '^1 problem whose start is already good enough is left out' out && [ "$(wc -l <warm/profile.csv)" -eq 1 ]; claim "where there was nothing to do, nobody is the best"
t compare resting.json --step 20 --solvers bgs --cold; ended 0 && grep -q '^  Start: zero, ' out; claim "--cold is still taken"
t compare resting.json --cold --warm; ended 2 && one_line && says "not both"; claim "--cold and --warm"
for bad in -1 1001; do t compare good.json --repeat $bad; ended 2 && one_line && says "1 to"; claim "--repeat $bad is refused"; done

t compare good.json endless.json --max-iter 100 --json
ended 0 && [ "$(wc -l <out)" -eq 1 ] && [ "$(grep -o '"problem":' out | wc -l)" -eq 2 ]; claim "--json: one object, all problems"
for s in $solvers; do [ "$(grep -o "\"solver\":\"$s\"" out | wc -l)" -eq 2 ]; claim "--json has $s"; done
tr -cd '{}[]' <out | awk '{ n = gsub(/[{[]/, ""); exit n != length($0) }'; claim "--json closes what it opens"

if script -qec true /dev/null >/dev/null 2>&1; then
  script -qec "'$tribo' compare good.json --solvers bgs" /dev/null >out 2>err </dev/null
  grep -q "bgs on good.json" out; claim "progress on a terminal"
fi
