# Help, and what is said of mistakes on the command line.
: "${claims:?this is a part of test/cli/run}"

t --help; ended 0 && grep -q "^usage: tribo" out && [ ! -s err ]; claim "--help goes to standard output"
t; ended 2 && [ ! -s out ] && says "usage"; claim "no command is usage, on standard error"
for c in solve compare generate paper list export render; do
  t $c --help; ended 0 && grep -q "^usage: tribo $c" out && [ ! -s err ]; claim "$c --help"
done
for c in solve compare; do
  t $c --help
  ! awk 'length($0) > 112' out | grep -q . ; claim "$c --help fits a line"
  for option in --tol --max-iter --max-time --model --order --threads --json --cold --strict; do
    grep -q -- "^  $option" out || echo "$option is missing" >>err
  done
  [ ! -s err ]; claim "$c --help names the options"
done
t --version; ended 0 && grep -q "^tribo [0-9]" out && grep -q "^simd " out; claim "--version names the build"
for list in solvers laws models orders structures; do
  t list $list; ended 0 && [ -s out ]; claim "list $list"
done

t sovle good.json; ended 2 && one_line && says 'did you mean "solve"'; claim "a wrong command: the nearest"
t arch; ended 2 && one_line && says 'tribo run arch'; claim "a scene in place of a command: how it is run"
for c in run render view compare "gradient --loss a:0,0,0 --wrt b.c"; do
  t ${c%% *} arhc ${c#"${c%% *}"}; ended 2 && one_line && says '^arhc: .*did you mean "arch"'; claim "${c%% *}: a misspelt scene of the gallery"
done
t run nothing-like-it; ended 2 && one_line && says 'tribo list scenes'; claim "a word unlike any scene: where to look"
t list solver; ended 2 && one_line && says 'did you mean "solvers"'; claim "a wrong list: the nearest"
t solve good.json --tl 1; ended 2 && one_line && says "did you mean --tol"; claim "a wrong option: the nearest"
t solve good.json --quite-something-else; ended 2 && one_line && says "--help"; claim "an option unlike any: where to look"
t solve good.json --solver bsg; ended 2 && one_line && says 'did you mean "bgs"'; claim "a wrong solver: the nearest"
t solve good.json --model con; ended 2 && one_line && says 'did you mean "cone"'; claim "a wrong model: the nearest"
t solve good.json --order gven; ended 2 && one_line && says 'did you mean "given"'; claim "a wrong order: the nearest"
for bad in abc 1e 0x10 inf nan "" 1e999 "1 "; do
  t solve good.json --tol "$bad"; ended 2 && one_line && says "takes a number"; claim "--tol \"$bad\" is no number"
done
for bad in 1.5 3000000000 x; do
  t solve good.json --max-iter $bad; ended 2 && one_line && says "whole number"; claim "--max-iter $bad is no whole number"
done
t solve good.json --tol=1e-6; ended 0; claim "--option=value"
t solve good.json --tol; ended 2 && one_line && says "needs a value"; claim "an option without its value"
t solve good.json --json=1; ended 2 && one_line && says "takes no value"; claim "a flag with a value"
t solve good.json --tol -1; ended 2 && one_line; claim "a negative tolerance"
t solve good.json --threads 0; ended 2 && one_line; claim "no threads"
t solve good.json endless.json; ended 2 && one_line; claim "solve takes one problem"
t solve; ended 2 && one_line; claim "solve wants a problem"
t compare; ended 2 && one_line; claim "compare wants a problem"
t compare good.json --manufactured 3; ended 2 && one_line && says "not from both"; claim "compare: files or manufactured problems"
for bad in -1 100001; do t compare --manufactured $bad; ended 2 && one_line && says "1 to"; claim "--manufactured $bad is refused"; done
t compare good.json --solvers bgs,,pgs; ended 2 && one_line; claim "an empty name among --solvers"
t compare good.json --solvers bgs,psg; ended 2 && one_line && says 'did you mean'; claim "a wrong name among --solvers"
t compare good.json --page x.html; ended 2 && one_line && says "--out"; claim "--page without --out"
for page in a/b.html .. results.csv summary.csv results.tex good-time.svg; do
  t compare good.json --out o --page $page; ended 2 && one_line && [ ! -e o ]; claim "--page $page is refused"
done
cp good.json ./-odd.json
t solve --json -- -odd.json; ended 0; claim "-- ends the options"
