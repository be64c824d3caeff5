# The tutorial's pictures are what its program draws (docs/tutorial.md), and bad usage is answered.
: "${claims:?this is a part of test/cli/run}"
tutorial=$(dirname "$tribo")/tutorial
if [ -x "$tutorial" ]; then
  for k in 1 2 3 4 5; do
    "$tutorial" $k >out 2>err && cmp -s out "$here/../../docs/tutorial/step-$k.svg"
    claim "step $k of the tutorial draws docs/tutorial/step-$k.svg"
  done
  awk '$1 == 64 && $2 < 1e-6 { good = 1 } END { exit !good }' err; claim "its impulses converge, by the judge"
  "$tutorial" 6 >out 2>err; [ $? -eq 2 ] && one_line; claim "there is no sixth step"
else
  skip "this build has no examples" "the tutorial"
fi
