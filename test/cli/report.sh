# compare --out: a page, CSV and LaTeX tables, figures.
: "${claims:?this is a part of test/cli/run}"

t compare good.json endless.json "$nasty" --max-iter 2000 --out new/deep; ended 0
[ "$(ls new/deep | tr '\n' ' ')" = "1-good-iterations.svg 1-good-time.svg 2-endless-iterations.svg 2-endless-time.svg 3-a--b---i----iterations.svg 3-a--b---i----time.svg curves.csv report.html results.csv results.tex " ]; claim "--out makes the folder, tables, figures and a page"
[ "$(tail -1 out)" = "wrote new/deep/report.html" ]; claim "the last line is the page to open"
cp -r new/deep o

[ "$(head -1 o/results.csv)" = "problem,solver,status,iterations,time_s,fclib,natural_map,penetration,cone,complementarity,dissipation,start_residual,runs,time_min_s,time_max_s,velocity" ]; claim "results.csv: its columns"
[ -s o/results.csv ] && grep -v '^"' o/results.csv | awk -F, 'NF != 16 { exit 1 }'; claim "results.csv: every row is full"
grep -v '^"' o/results.csv | awk -F, 'NR > 1 && $3 != "refused" { n++; if (!($14 <= $5 && $5 <= $15) || $13 < 1) exit 1 } END { exit !n }'; claim "results.csv: times lie within their spread"
for f in o/1-good-time.svg o/1-good-iterations.svg; do [ "$(grep -c '<g class="c k' $f)" -eq 8 ] && [ "$(grep -c '<g class="c b k' $f)" -gt 0 ] && grep -q 'more in grey<' $f; claim "$f: eight curves are named, the others grey"; done
[ "$(grep '^good.json,' o/curves.csv | cut -d, -f2 | sort -u | wc -l)" -eq "$(grep '^good.json,' o/results.csv | grep -vc ',refused,')" ]; claim "curves.csv has every curve"
for s in $solvers; do [ "$(grep -c ",$s," o/results.csv)" -eq 3 ]; claim "results.csv has $s"; done
grep -qF '"a,""b"" <i>'\''&.json",bgs,' o/results.csv; claim "results.csv quotes names"
[ "$(head -1 o/curves.csv)" = "problem,solver,iteration,time_s,residual" ]; claim "curves.csv: its columns"
[ -s o/curves.csv ] && awk -F, '/^(good|endless)/ { if (NF != 5) exit 1; key = $1 "," $2
         if (key == last && ($3 <= k || $4 < s)) exit 1; if (key != last && $3 != 0) exit 1
         if (++n[key] > 300) exit 1; last = key; k = $3; s = $4 }' o/curves.csv; claim "curves.csv: from 0, in order, at most 300 points"
grep -q '^endless.json,bgs,' o/curves.csv && [ "$(grep '^endless.json,bgs,' o/curves.csv | tail -1 | cut -d, -f3)" = "$(grep '^endless.json,bgs,' o/results.csv | cut -d, -f4)" ]; claim "curves.csv ends where the run ends"
t solve endless.json --solver bgs --max-iter 2000 --trace full.csv
grep '^endless.json,bgs,' o/curves.csv | cut -d, -f3,5 >some; cut -d, -f1,3 full.csv >every
[ -s some ] && ! grep -Fxvqf every some; claim "curves.csv holds measured points only"

for s in $solvers; do [ "$(grep -c "^    .texttt{$s} &" o/results.tex)" -eq 4 ]; claim "results.tex has $s, problem by problem and in the overview"; done
[ "$(grep -c '^.begin{table}' o/results.tex)" -eq 4 ] && [ "$(grep -c '^.end{table}' o/results.tex)" -eq 4 ] && [ "$(grep -c 'bottomrule' o/results.tex)" -eq 4 ]; claim "results.tex closes its tables"
sed 's/\\&//g' o/results.tex | awk '/begin.tabular/ { n = gsub(/[lr]/, "") - 2; next } /\\\\$/ { rows++; if (gsub(/&/, "") != n - 1) print } END { if (!rows) print "none" }' >out; [ ! -s out ]; claim "results.tex: every row has its columns"
! sed 's/\\[{}$&#_%]//g; s/\\text[a-z]*{}//g; /^%/d' o/results.tex | grep -q '[#%~]'; claim "results.tex escapes names"
grep -q '^% Again *tribo compare good.json' o/results.tex && grep -q '^% Build .*commit [a-z0-9]' o/results.tex && grep -q '^% Processor ' o/results.tex; claim "results.tex names machine, commit and command"
[ "$(grep -Lc '^<svg xmlns' o/*.svg | wc -l)" -eq 0 ] && ! grep -Eq '(nan|inf)[ "H,]' o/*.svg; claim "figures are files by themselves, without bad coordinates"
if command -v xmllint >/dev/null; then xmllint --noout o/*.svg 2>err; claim "figures are well-formed"; fi
for s in $solvers; do grep -q ">$s<" o/report.html; claim "the page has $s"; done
awk '{ text = text $0 "\n" }
     END {
       sub(/^<!DOCTYPE html>/, "", text); gsub(/<style>[^<]*<\/style>/, "", text)
       while (match(text, /<[^>]*>/)) {
         tag = substr(text, RSTART + 1, RLENGTH - 2); text = substr(text, RSTART + RLENGTH)
         name = tag; sub(/^\//, "", name); sub(/[ \/].*/, "", name)
         if (tag ~ /^\//) { if (n == 0 || open[n--] != name) exit 1 } else if (tag !~ /\/$/) open[++n] = name
       }
       exit n != 0
     }' o/report.html; claim "the page closes every tag it opens"
if command -v xmllint >/dev/null; then xmllint --noout o/report.html 2>err; claim "the page is well-formed"; fi
[ -s o/report.html ] && ! grep -Eqi '<script|<link|src=|https?:|url\(|@import' o/report.html; claim "the page needs no script and no other file"
grep -q '&lt;script&gt;alert(&quot;1&quot;)' o/report.html; claim "names in the page are escaped"
[ -s o/report.html ] && ! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037]')" o/report.html; claim "the page has no control characters"
grep -q 'prefers-color-scheme:dark' o/report.html && grep -q '@media print' o/report.html && grep -q 'name="viewport"' o/report.html; claim "the page knows dark screens, paper and phones"
[ "$(grep -c '<svg viewBox="0 0 500' o/report.html)" -eq 6 ]; claim "two plots for each problem"
[ -s o/report.html ] && ! grep -Eq '(nan|inf)[ "H,]' o/report.html; claim "plots have no bad coordinates"
sed -n 's/.*<pre><code>\(.*\)<\/code><\/pre>.*/\1/p' o/report.html | sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&#39;/'\''/g; s/&amp;/\&/g' >again
rm -r new; (tribo() { "$tribo" "$@"; }; eval "$(cat again)" >out 2>err) && [ -s new/deep/report.html ]; claim "the page's command makes the page"

t compare --manufactured 12 --solvers bgs,prox-newton,lemke --max-iter 200 --out made; ended 0 && [ ! -s err ]; claim "--manufactured: no files needed"
[ "$(ls made | tr '\n' ' ')" = "profile-iterations.svg profile-time.svg profile.csv report.html results.csv results.tex summary.csv " ]; claim "--manufactured: its files"
[ "$(tail -1 out)" = "wrote made/report.html" ] && grep -Eq '^  prox-newton +12 +12 ' out; claim "--manufactured: a line for each solver"
awk -F, 'NR == 1 { exit $0 != "solver,taken,solved,max_iterations,time,failed,untrue,median_s,p95_s" }' made/summary.csv; claim "summary.csv: its columns"
awk -F, 'NR > 1 && (NF != 9 || $2 != $3 + $4 + $5 + $6 || $7 != 0 || ($3 && $8 > $9)) { bad = 1 } END { exit bad || NR != 4 }' made/summary.csv; claim "summary.csv: every problem taken is accounted for, truthfully"
[ "$(grep -c ',prox-newton,converged,' made/results.csv)" -eq 12 ]; claim "results.csv has every manufactured problem"
[ "$(grep -c '<svg class="bar"' made/report.html)" -eq 3 ] && [ "$(grep -c '<svg viewBox="0 0 500' made/report.html)" -eq 2 ]; claim "the page has a bar for each solver, and two profiles"
if command -v xmllint >/dev/null; then xmllint --noout made/report.html 2>err; claim "that page is well-formed too"; fi
t compare --manufactured 3 --solvers bgs --json; ended 0 && [ "$(grep -o '"problem":' out | wc -l)" -eq 3 ]; claim "--manufactured --json"
for seed in 5 5 6; do t compare --manufactured 4 --seed $seed --solvers bgs --max-iter 300 --out s$seed; cut -d, -f1-4,6-12 s$seed/results.csv | cksum; done >sums
[ "$(sed -n 1p sums)" = "$(sed -n 2p sums)" ] && [ "$(sed -n 2p sums)" != "$(sed -n 3p sums)" ]; claim "--seed draws the set"

t compare good.json --out o --page index.html --solvers bgs; ended 0 && [ -s o/index.html ]; claim "--page names the page"
grep -q 'degrees of freedom' o/index.html && grep -q 'tribo [0-9.]*, commit [a-z0-9-]*, [a-z]* [0-9]' o/index.html; claim "the page names the size and the build"
printf '{"tribo_problem": 1, "W": [[1]], "contacts": [{"law": "nonneg", "bias": [1]}]}' >solved.json
t compare solved.json --out o; ended 0 && ! grep -Eq '(nan|inf)[ "H,]' o/report.html; claim "a problem that needs no step has a page too"
t compare endless.json --tol 0 --max-iter 3 --out o; ended 0 && ! grep -q '>tolerance<' o/report.html; claim "no tolerance, no line for it"
