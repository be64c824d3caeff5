# Collision queries: ccd.
: "${claims:?this is a part of test/cli/run}"

ccd_rows() { # eight rows; $1: where the vertex ends, $2: the answer
  printf '1,4,1,2,%s,%s\n' 1,1 "$2"
  for corner in 0,1,0,1,0,1 1,1,0,1,0,1 0,1,1,1,0,1; do echo "$corner,$2"; done
  printf '1,4,1,2,%s,%s\n' "$1" "$2"
  for corner in 0,1,0,1,0,1 1,1,0,1,0,1 0,1,1,1,0,1; do echo "$corner,$2"; done
}
mkdir -p vertex-face edge-edge
{ ccd_rows -1,1 1; ccd_rows 1,2 0; } >vertex-face/good.csv
sed 's/$/\r/' vertex-face/good.csv >vertex-face/dos.csv
cp vertex-face/good.csv plain.csv
head -c -20 vertex-face/good.csv >vertex-face/cut.csv
head -13 vertex-face/good.csv >vertex-face/short.csv
sed '2s/^0,1/0,0/' vertex-face/good.csv >vertex-face/zero.csv
sed '3s/^1,/1.5,/' vertex-face/good.csv >vertex-face/decimal.csv
sed '3s/^1,/x,/' vertex-face/good.csv >vertex-face/word.csv
sed '4s/1$/2/' vertex-face/good.csv >vertex-face/answer.csv
sed '4s/1$/0/' vertex-face/good.csv >vertex-face/torn.csv
sed '5s/$/,7/' vertex-face/good.csv >vertex-face/wide.csv
{ printf '1'; head -c 400 /dev/zero | tr '\0' 0; printf ',1,0,1,0,1,0\n'; } >vertex-face/huge.csv
: >vertex-face/empty.csv
head -c 4096 /dev/urandom >vertex-face/noise.csv
head -c 4096 /dev/zero >vertex-face/nul.csv

t ccd vertex-face/good.csv; ended 0 && [ ! -s err ] && grep -q '^vertex-face  *2  *1  *0  *0 ' out; claim "ccd counts queries and mistakes"
t ccd vertex-face/good.csv vertex-face/good.csv --json; ended 0 && [ "$(wc -l <out)" -eq 2 ] &&
  grep -q '^{"file":"vertex-face/good.csv","kind":"vertex-face",.*"queries":2,"positives":1,"false_positives":0,"false_negatives":0,.*"us":{"mean":.*"p99":.*"max":' out; claim "ccd --json, an object a file"
t ccd vertex-face/dos.csv; ended 0; claim "ccd: lines that end in CR LF"
for method in inclusion cubic multivariate; do
  t ccd vertex-face/good.csv --method $method --json; ended 0 && grep -q "\"method\":\"$method\"" out; claim "ccd --method $method"
done
t ccd vertex-face/good.csv --backward --json; ended 0 && grep -q '"positives":1,"false_positives":0,"false_negatives":0,.*"backward":{"mean":0\.50000[0-9]*,"depth":1}' out; claim "ccd --backward, how long ago and how deep since"
t ccd plain.csv; ended 2 && one_line && says '^plain.csv: .*--kind'; claim "ccd: a path that does not say the kind"
t ccd plain.csv --kind vertex-face; ended 0; claim "ccd --kind"
t ccd vertex-face/empty.csv --json; ended 0 && grep -q '"queries":0' out; claim "ccd: an empty file has no queries"
t ccd vertex-face/cut.csv; ended 2 && one_line && says '^vertex-face/cut.csv:1[56]:'; claim "ccd: a file cut within a row"
t ccd vertex-face/short.csv; ended 2 && one_line && says '^vertex-face/short.csv:14:1: .*eights'; claim "ccd: a file cut within a query"
t ccd vertex-face/zero.csv; ended 2 && one_line && says '^vertex-face/zero.csv:2:3: .*denominator'; claim "ccd: a denominator of 0"
t ccd vertex-face/decimal.csv; ended 2 && one_line && says '^vertex-face/decimal.csv:3:1: .*integer'; claim "ccd: a decimal number"
t ccd vertex-face/word.csv; ended 2 && one_line && says '^vertex-face/word.csv:3:1: .*integer'; claim "ccd: a word"
t ccd vertex-face/answer.csv; ended 2 && one_line && says '^vertex-face/answer.csv:4:13: .*0 or 1'; claim "ccd: an answer of 2"
t ccd vertex-face/torn.csv; ended 2 && one_line && says '^vertex-face/torn.csv:4:'; claim "ccd: rows of a query that disagree"
t ccd vertex-face/wide.csv; ended 2 && one_line && says '^vertex-face/wide.csv:5:'; claim "ccd: an eighth column"
t ccd vertex-face/huge.csv; ended 2 && one_line && says '^vertex-face/huge.csv:1:1: .*large'; claim "ccd: an integer beyond doubles"
for bad in noise nul; do t ccd vertex-face/$bad.csv; ended 2 && one_line; claim "ccd: $bad"; done
t ccd vertex-face/nowhere.csv; ended 2 && one_line && says 'No such file'; claim "ccd: a file that is not there"
t ccd vertex-face; ended 2 && one_line && says 'directory'; claim "ccd: a folder"
t ccd vertex-face/word.csv vertex-face/good.csv --json; ended 2 && [ "$(wc -l <out)" -eq 1 ] && [ "$(wc -l <err)" -eq 1 ]; claim "ccd goes on after a bad file"
sed 's/,0$/,1/' vertex-face/good.csv >vertex-face/lie.csv
t ccd vertex-face/lie.csv --strict; ended 1; claim "ccd --strict ends with 1 on a miss"
t ccd vertex-face/good.csv --method newton; ended 2 && one_line && says inclusion; claim "ccd: a method that does not exist"
t ccd vertex-face/good.csv --separation -1; ended 2 && one_line; claim "ccd: a negative separation"
t ccd vertex-face/good.csv --max-boxes 0; ended 2 && one_line; claim "ccd: no boxes"
t ccd vertex-face/good.csv --kind both; ended 2 && one_line; claim "ccd: a kind that does not exist"
t ccd; ended 2 && one_line; claim "ccd wants a file"
t ccd --help; ended 0 && grep -q '^usage: tribo ccd' out && [ ! -s err ]; claim "ccd --help"

shared=${TRIBO_SHARED:-$here/../../../shared}
if [ -d "$shared/ccd" ]; then
  t ccd --json --repeat 1 $(find "$shared/ccd" -name '*.csv' | sort)
  ended 0 && awk -F'[:,]' '{for (i = 1; i < NF; i++) {k = $i; gsub(/[{"]/, "", k); n[k] += $(i + 1)}}
    END {exit !(n["queries"] > 2000 && n["false_negatives"] == 0 && n["false_positives"] <= 0.05 * (n["queries"] - n["positives"]))}' out
  claim "ccd: the published queries, no collision missed and few false alarms"
fi
rm -rf vertex-face edge-edge plain.csv
