# tribo solve: the verdict, its JSON, the files it writes, the files it cannot read.
: "${claims:?this is a part of test/cli/run}"

t solve good.json; ended 0 && grep -q "^good.json: 2 contacts, 6 rows" out && grep -q "converged" out; claim "the verdict in words"

# json KEY PATTERN: the object on one line has the key, with a value of that form.
json() { grep -Eq "[{,]\"$1\":$2[,}]" out; }
number='-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?' text='"[^"]*"' whole='[0-9]+'
t solve good.json --json
ended 0 && [ "$(wc -l <out)" -eq 1 ] && grep -q '^{.*}$' out; claim "--json is one object on one line"
json problem '"good.json"' && json contacts 2 && json dofs 9 && json solver '"auto"' && json used "$text"; claim "--json names the problem and the solver"
json status '"converged"' && json iterations "$whole" && json time_s "$number" && json residual "$number"; claim "--json has the result"
for key in natural_map fclib penetration cone complementarity dissipation; do
  sed 's/.*"residuals":{\([^}]*\)}.*/{\1}/' out >inner
  grep -Eq "[{,]\"$key\":$number[,}]" inner; claim "--json residuals.$key"
done
[ "$(sed 's/.*"residual":\([^,}]*\).*/\1/' out)" = "$(sed 's/.*"fclib":\([^,}]*\).*/\1/' out)" ]; claim "--json residual is fclib's"
t solve "$nasty" --json; ended 0 && grep -qF '"problem":"a,\"b\" <i>'\''&.json"' out; claim "--json escapes the path"
t solve endless.json --json --max-iter 5; ended 0 && json status '"max_iterations"' && json iterations 5; claim "out of iterations is a result"
t solve endless.json --json --max-iter 2000000000 --max-time 0.1; ended 0 && json status '"time"'; claim "out of time is a result"
t solve endless.json --max-iter 5 --strict; ended 1; claim "--strict: a missed tolerance is 1"
t solve good.json --strict; ended 0; claim "--strict: a met tolerance is 0"
for s in $solvers; do
  t solve good.json --solver "$s" --json --max-time 5
  if ended 2; then one_line && says "cannot solve this"; else ended 0 && json solver "\"$s\""; fi; claim "solve --solver $s"
done

t solve good.json --solution s.txt; ended 0 && [ "$(wc -l <s.txt)" -eq 6 ] && ! grep -Evq '^-?[0-9]\.[0-9]{16}e[+-][0-9]+$' s.txt; claim "--solution: a line for each row"
awk '{ printf "%.16e\n", $1 }' s.txt | cmp -s - s.txt; claim "--solution reads back"
t solve good.json --solution s2.txt --threads 2; cmp -s s.txt s2.txt; claim "threads do not change the solution"
t solve good.json --solution s2.txt --cold; ended 0 && awk 'NR == FNR { a[NR] = $1; next } { d = a[FNR] - $1; if (d * d > 1e-14) exit 1 }' s.txt s2.txt; claim "--cold ends at the same solution"

t solve endless.json --max-iter 50 --json --trace t.csv; ended 0
awk -F, 'NR == 1 { if ($0 != "iteration,time_s,residual") exit 1; next }
         NF != 3 || $1 != NR - 2 || $2 < last || $3 !~ /^[0-9.e-]+$/ { exit 1 } { last = $2 }' t.csv; claim "--trace is a table of every iteration"
json iterations "$(tail -1 t.csv | cut -d, -f1)"; claim "--trace ends at the reported iteration"

# Files that cannot be read: one line, the place, 2.
bad() { t solve "$1"; ended 2 && one_line && grep -q "^$1$2: ." err; claim "$3"; }
bad missing.json "" "a missing file"
mkdir folder; bad folder "" "a folder"
: >empty.json; bad empty.json "" "an empty file"
printf 'hello\n' >words.json; bad words.json "" "a text of another kind"
printf '\x89HDF\r\n\x1a\n' >cut.hdf5; bad cut.hdf5 "" "a cut FCLIB file"
head -c 300 good.json >cut.json; bad cut.json ":[0-9]*:[0-9]*" "a cut file: where it ends"
sed 's/"bias"/"bais"/' good.json >key.json; bad key.json ":[0-9]*:[0-9]*" "a wrong key: where"
says '"bias"'; claim "a wrong key: the nearest"
sed 's/0.2, "v_free"/"heavy", "v_free"/' good.json >type.json; bad type.json ":7:18" "a wrong value: line and column"
printf '2\n0\nx\n' >lcp.dat; bad lcp.dat ":[0-9]*:[0-9]*" "a bad LCP: where"
