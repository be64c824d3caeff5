# Interrupts, full disks, readers that leave: the right code, and nothing left behind.
: "${claims:?this is a part of test/cli/run}"

clean() { ! find . -name '*.tmp-*' | grep -q .; }
t_signal() { # signals, then arguments: sent once the command listens for it and is at work
  "$tribo" "${@:2}" >out 2>err </dev/null &
  local pid=$! caught try signal
  for try in {1..200}; do
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null)
    [ -n "$caught" ] && [ $((0x$caught & 2)) -ne 0 ] && break
    sleep 0.05
  done
  sleep 0.3
  for signal in $1; do kill -s "$signal" "$pid" 2>/dev/null; done
  wait "$pid"
  code=$?
}
long="--tol 0 --max-iter 2000000000 --max-time 0"
t_signal INT solve endless.json $long --json; ended 130 && grep -q '"status":"failed"' out; claim "Ctrl-C ends a solve with 130"
t_signal TERM solve endless.json $long --solution i.txt; ended 130 && [ "$(wc -l <i.txt)" -eq 2 ] && clean; claim "an interrupted solve keeps its best answer"
rm -rf new o2; mkdir o2; echo old >o2/report.html
t_signal INT compare good.json endless.json $long --out new/a/b; ended 130 && [ ! -e new ] && clean; claim "Ctrl-C ends compare with 130, and unmakes the folder"
t_signal INT compare endless.json $long --out o2; ended 130 && [ "$(cat o2/*)" = old ]; claim "an interrupted compare leaves the old report alone"
t_signal INT compare endless.json $long --json; ended 130 && [ ! -s out ]; claim "an interrupted compare prints no half JSON"

if [ -w /dev/full ]; then
  for args in "solve good.json" "solve good.json --json" "compare good.json" "compare good.json --json" "list solvers" "--version" "solve --help"; do
    "$tribo" $args >/dev/full 2>err; code=$?; : >out
    ended 3 && one_line && says "standard output"; claim "a full disk under $args is 3"
  done
  t solve good.json --solution /dev/full; ended 3 && one_line; claim "a full disk under --solution is 3"
  t solve good.json --trace /dev/full; ended 3 && one_line; claim "a full disk under --trace is 3"
fi
t solve good.json --solution missing/s.txt; ended 3 && one_line && [ ! -e missing ]; claim "--solution into a missing folder is 3"
t solve good.json --trace folder; ended 3 && one_line && clean; claim "--trace onto a folder is 3"
for folder in good.json good.json/sub /proc/none; do
  t compare good.json --out $folder; ended 3 && one_line && says "$folder"; claim "--out $folder is 3"
done
if [ "$(id -u)" -ne 0 ]; then
  mkdir -m 555 locked; t compare good.json --out locked; ended 3 && one_line; claim "--out into a locked folder is 3"
fi
rm -rf o3; mkdir -p o3/report.html
t compare good.json --solvers bgs --out o3; ended 3 && [ "$(ls o3)" = report.html ] && clean; claim "all files of a report, or none"

leave() { # the reader takes one line and goes
  timeout 20 "$tribo" "$@" 2>err | head -1 >out; code=${PIPESTATUS[0]}
  ended 0 && [ ! -s err ]
}
leave list solvers; claim "list | head -1"
leave solve good.json; claim "solve | head -1"
rm -rf o4; leave compare good.json good.json good.json --out o4 && [ -s o4/report.html ]; claim "compare | head -1 still writes its report"
leave compare good.json --json; claim "compare --json | head -1"
"$tribo" solve good.json --json 2>err | true; [ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s err ]; claim "a reader that takes nothing"
: >out; "$tribo" solve good.json --solution s5.txt >&- 2>err; code=$?; ended 3 && [ "$(wc -l <s5.txt)" -eq 6 ]; claim "a closed standard output does not leak into files"
clean; claim "no temporary files are left"

# What would never end, or is too large, is refused before it is read.
mkfifo pipe; truncate -s 20G huge.json
for c in check run resume solve compare render view "export --to gltf" "ccd --kind edge-edge"; do
  for file in pipe /dev/zero; do
    t $c $file; ended 2 && one_line && says "$file: cannot be read: not a file"; claim "${c%% *} $file is refused"
  done
  (ulimit -v 4000000; timeout 20 "$tribo" $c huge.json >out 2>err </dev/null); code=$?
  ended 2 && one_line && says "^huge.json: "; claim "${c%% *} of 20 GB is refused before reading"
done
# A pipe to write waits for its reader, and Ctrl-C ends the wait.
"$tribo" run scene.json --steps 1 --csv pipe --quiet >out 2>err & p=$!
for i in $(seq 200); do ! grep -q '^SigCgt:.*[2367abef]$' /proc/$p/status 2>/dev/null || break; sleep 0.05; done # it catches SIGINT
sleep 0.2; kill -INT $p
for i in $(seq 400); do kill -0 $p 2>/dev/null || break; sleep 0.05; done
kill -KILL $p 2>/dev/null
wait $p; code=$?; ended 130 && [ -p pipe ]; claim "Ctrl-C ends the wait for who reads a pipe"
timeout 20 cat pipe >out & "$tribo" run scene.json --steps 1 --csv pipe --quiet 2>err; code=$?; wait $!
ended 0 && [ "$(head -c 9 out)" = step,t,na ]; claim "run --csv into a pipe"
rm -f pipe huge.json
"$tribo" solve - --solution - <good.json >out 2>err; code=$?
ended 0 && [ "$(wc -l <out)" -eq 6 ] && says residual; claim "solve - reads standard input, --solution - writes standard output"
t solve good.json --solution here.txt; "$tribo" solve <(cat good.json) --solution - >out 2>err; cmp here.txt out; claim "solve <(command)"
t solve good.json --solution - --json; ended 2 && one_line && says "two outputs"; claim "one output alone goes to standard output"
"$tribo" generate stack -o - 2>err | "$tribo" solve - --trace - >out 2>>err; [ "$(head -1 out)" = iteration,time_s,residual ]; claim "generate -o - | solve - --trace -"

# A count out of range is a mistake on the command line; threads that the system refuses are a fault.
for c in "solve good.json" "compare good.json" "run scene.json --steps 1" "render scene.json"; do
  t $c --threads 999; ended 2 && one_line && says "threads must be 1 to 256"; claim "${c%% *} --threads 999 is 2"
  (ulimit -v 400000; exec "$tribo" $c --threads 250 >out 2>err </dev/null); code=$?
  ended 3 && one_line && says "refused thread"; claim "${c%% *}: threads the system refuses are 3"
done
