# tribo compare: the table, the JSON, one problem or many.

t compare good.json; ended 0 && grep -q "^good.json" out && [ ! -s err ]; claim "a table, and silence on standard error"
for s in $solvers; do grep -Eq "^ +([0-9]+|–)  $s " out; claim "the table has $s"; done
awk '/ converged / { if (done || $(NF-4) < last) exit 1; last = $(NF-4); next } $1 ~ /^[0-9]+$/ { done = 1 }' out; claim "ranked: converged first, by time"
awk '$1 ~ /^[0-9]+$/ && $1 != ++n { exit 1 }' out; claim "ranks count from one"
[ "$(ls -A | grep -c tmp)" -eq 0 ] && [ ! -e report.html ] && [ ! -e results.csv ]; claim "without --out nothing is written"
t compare good.json --solvers pgs,bgs,pgs; ended 0 && [ "$(grep -Ec '^ +[0-9]+  ' out)" -eq 2 ]; claim "--solvers, without repeats"
t compare good.json --solvers pgs,bgs --model ccp; ended 0 && grep -Eq '^ +–  pgs  +it ' out; claim "who cannot solve it is listed with the reason"
t compare endless.json --max-iter 20 --solvers bgs,pgs --strict; ended 1; claim "compare --strict: a missed tolerance is 1"
t compare endless.json --max-iter 20 --solvers bgs,pgs; ended 0 && grep -q "max_iterations" out; claim "without --strict it is 0"
t compare good.json "$nasty" --solvers bgs; ended 0 && ! grep -q "$(printf '\033')" out; claim "names cannot steer the terminal"
t compare good.json missing.json --out o; ended 2 && one_line && [ ! -e o ]; claim "a missing second problem stops before the first runs"

t compare good.json endless.json --max-iter 100 --json
ended 0 && [ "$(wc -l <out)" -eq 1 ] && [ "$(grep -o '"problem":' out | wc -l)" -eq 2 ]; claim "--json: one object, all problems"
for s in $solvers; do [ "$(grep -o "\"solver\":\"$s\"" out | wc -l)" -eq 2 ]; claim "--json has $s"; done
tr -cd '{}[]' <out | awk '{ n = gsub(/[{[]/, ""); exit n != length($0) }'; claim "--json closes what it opens"

if script -qec true /dev/null >/dev/null 2>&1; then
  script -qec "'$tribo' compare good.json --solvers bgs" /dev/null >out 2>err </dev/null
  grep -q "bgs on good.json" out; claim "progress on a terminal"
fi
