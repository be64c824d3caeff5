# tribo generate and tribo paper: structures in files, claims that are checked.
: "${claims:?this is a part of test/cli/run}"

for kind in $("$tribo" list structures | sed -n 's/^\([a-z]*\) .*/\1/p'); do
  t generate $kind -o g.json; ended 0 && grep -q "^g.json: [0-9]* contacts" out && [ ! -s err ]; claim "generate $kind"
  t solve g.json --max-time 5 --max-iter 20 --json; ended 0 && grep -q '"iterations":' out; claim "the $kind can be solved"
done
t generate stack --size 2 --mass-ratio 100 --friction 0.3 -o g.json; ended 0 && grep -q '"mu": 0.3' g.json && grep -q '"mass": 100' g.json; claim "generate takes its options"
t generate pile --seed 1 -o g1.json; t generate pile --seed 2 -o g2.json; t generate pile --seed 1 -o g3.json
cmp -s g1.json g3.json && ! cmp -s g1.json g2.json; claim "a seed repeats, another does not"
if "$tribo" --version | grep -q '^fclib *yes, through HDF5'; then
  t generate arch -o g.hdf5; ended 0; claim "generate writes FCLIB"
  t generate arch -o g.json; t solve g.json --solution a.txt; t solve g.hdf5 --solution b.txt; cmp -s a.txt b.txt; claim "both formats hold the same problem"
fi
t generate; ended 2 && one_line; claim "generate wants a kind"
t generate stack; ended 2 && one_line; claim "generate wants a file"
t generate stakc -o g9.json; ended 2 && one_line && says 'did you mean "stack"'; claim "a wrong structure: the nearest"
t generate stack -o g9.txt; ended 2 && one_line && says ".json"; claim "generate wants an ending it knows"
for bad in "--size 0" "--size -1" "--size 2000000000" "--friction -1" "--mass-ratio 0"; do
  t generate stack $bad -o g9.json; ended 2 && one_line && [ ! -e g9.json ]; claim "generate $bad is refused"
done
t generate stack -o missing/g.json; ended 3 && one_line; claim "generate into a missing folder is 3"

for scene in "$here"/../../papers/*/*.json; do
  case $scene in */verschoor/armadillo.json) continue ;; esac # its meshes are not Tribo's
  t check "$scene"; ended 0; claim "papers/${scene#*/papers/} can be run"
done

# Only what the clock decides may fail, on a machine that is busy.
only_timed() { ! grep -A1 '^  FAILED' out | grep -v '^  FAILED' | grep -qv '^ *by the clock: '; }
t paper course --quick --out paper; { ended 0 || ended 1; } && [ ! -s err ]; claim "paper course --quick comes to its end"
grep -q '^  ok      the best order converges in less than half' out; claim "the claims are named"
only_timed && [ "$(grep -c 'by the clock: ' out)" -eq 3 ]; claim "all claims hold but, at times, the three that are timed"
[ "$(tail -1 out)" = paper/report.md ] && grep -Eq '^[0-9]+ ok, [0-9]+ failed, [0-9]+ skipped$' out; claim "a count, then the report to read"
for file in $(sed -n 's/.*](\([^)]*\)).*/\1/p' paper/report.md); do [ -s "paper/$file" ] || echo "$file is missing" >>err; done; [ ! -s err ]; claim "the report's tables and plots are there"
[ "$(awk -F, 'NR > 1 { n += $2 } END { print n }' paper/figure-16-distribution.csv)" -eq 40320 ]; claim "figure 16 counts every order once"
for f in paper/*.csv; do awk -F, 'NR == 1 { n = NF } NF != n { exit 1 } END { if (NR < 2) exit 1 }' "$f" || echo "$f is ragged" >>err; done; [ ! -s err ]; claim "tables have full rows"
! grep -Eq '(nan|inf)[ "H,V]' paper/*.svg; claim "plots have no bad coordinates"
if command -v xmllint >/dev/null; then xmllint --noout paper/*.svg 2>err; claim "plots are well-formed"; fi
t paper course --quick --out paper2; cmp -s paper/figures-20-22.csv paper2/figures-20-22.csv && cmp -s paper/figure-22-summary.csv paper2/figure-22-summary.csv && cmp -s paper/figure-22-stack.svg paper2/figure-22-stack.svg; claim "work is counted: the same figures every time"
t paper course --quick --out good.json; ended 3 && one_line; claim "paper --out onto a file is 3, before the work"
t paper verschoor --quick --only bearing --out deformable; { ended 0 || ended 1; } && [ ! -s err ]; claim "paper verschoor --quick --only comes to its end"
grep -q '^  ok      the same bits with one thread and with two' out; claim "two threads were run, and gave the same bits"
grep -q '^  ok      collision free at the end of every step' out && grep -q '^    CR (Full) ' out; claim "soft bodies do not pass through each other"
[ "$(cut -d, -f1 deformable/table-1.csv | sort -u | tail -1)" = scene ] && [ "$(grep -c '^bearing,' deformable/table-1.csv)" -eq 5 ]; claim "one scene, all methods"
t paper ly --quick --out cloth; { ended 0 || ended 1; } && [ ! -s err ] && [ -s cloth/table-2.csv ] && [ -s cloth/figure-6.svg ]; claim "paper ly --quick comes to its end"
only_timed; claim "all its claims hold but, at times, those that are timed"
t paper macklin --quick --out descent; { ended 0 || ended 1; } && [ ! -s err ]; claim "paper macklin --quick comes to its end"
only_timed; claim "all its claims hold but, at times, those that are timed"
[ -s descent/figure-6.svg ] && [ "$(wc -l < descent/mass-ratios.csv)" -eq 71 ] && grep -q '>semi-implicit</text>' descent/mass-ratios.svg && [ -s descent/cost-stack.svg ]; claim "conditioning, ratios and budgets are in files"
t paper verschoor --only beering; ended 2 && says 'nearest is "bearing"'; claim "a wrong experiment: the nearest"
t paper kaufman --only bridge; ended 2 && says 'no experiment "bridge"'; claim "of every paper that has parts"
t paper kaufman --quick --only haptic --out reduced; ended 0 && [ ! -s err ] && [ "$(wc -l <reduced/tables.csv)" -eq 2 ]; claim "a row of kaufman's tables by itself"
t paper; ended 2 && one_line; claim "paper wants a name"
t paper curse; ended 2 && one_line && says 'did you mean "course"'; claim "a wrong paper: the nearest"

# compare over a folder, with profiles.
mkdir many; for n in 2 3 4; do "$tribo" generate stack --size $n -o many/stack$n.json >/dev/null; done; echo hello >many/notes.txt
t compare many --solvers bgs,newton-fb,bpp --profile --max-iter 5000 --out prof; ended 0 && [ "$(grep -c '^many/stack' out)" -eq 3 ]; claim "a folder stands for the problems in it"
grep -q '^profile by time' out && grep -q '^profile by iterations' out; claim "--profile prints a table of each measure"
[ "$(head -1 prof/profile.csv)" = "measure,solver,factor,share" ] && awk -F, 'NR > 1 { key = $1 "," $2
  if ($3 < 1 || $4 < 0 || $4 > 1 || (key == last && ($3 <= x || $4 <= y))) exit 1
  if (key != last && $3 != 1) exit 1; last = key; x = $3; y = $4 } END { exit NR < 4 }' prof/profile.csv; claim "profile.csv: shares grow with the factor, from 1"
awk -F, '$1 == "time" && $3 == 1 { n += $4 } END { exit n < 0.99 }' prof/profile.csv; claim "someone is the best on every problem"
! grep -q ',bpp,' prof/profile.csv && ! grep -q '^  bpp  .*%' out && ! grep -q '>bpp</text>' prof/profile-time.svg && grep -Eq '^  bgs  .* 3 +3$' out; claim "a solver that does not apply is in no profile"
grep -q '<h2>Performance profile</h2>' prof/report.html && ! grep -Eq '(nan|inf)[ "H,V]' prof/report.html; claim "the page has the profile"
t compare good.json --solvers bgs --out noprof; ended 0 && [ ! -e noprof/profile.csv ] && ! grep -q 'Performance profile' noprof/report.html; claim "no --profile, no profile"
mkdir none; t compare none; ended 2 && one_line && grep -q '^none: no problem' err; claim "a folder without problems"
