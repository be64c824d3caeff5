# The problems the checks run on.
: "${claims:?this is a part of test/cli/run}"

# A particle on a box on the ground, with a guess: sticks; solved in a few iterations.
cat >good.json <<'END'
{
  "tribo_problem": 1,
  "name": "a particle on a box",
  "metric": [
    {"rigid": {"mass": 1, "inertia": [[0.1666, 0, 0], [0, 0.1666, 0], [0, 0, 0.1666]]},
     "v_free": [0.1, 0, -0.0981, 0, 0, 0]},
    {"particle": 0.2, "v_free": [0, 0, -0.0981]}
  ],
  "contacts": [
    {"law": "coulomb", "mu": 0.5, "bias": [0, 0, 0],
     "jacobian": [{"dof": 0, "J": [[0, 0, 1, 0, 0, 0], [1, 0, 0, 0, -0.5, 0], [0, 1, 0, 0.5, 0, 0]]}]},
    {"law": "coulomb", "mu": 0.5, "bias": [0, 0, 0],
     "jacobian": [{"dof": 0, "J": [[0, 0, -1, 0, 0, 0], [-1, 0, 0, 0, -0.5, 0], [0, -1, 0, 0.5, 0, 0]]},
                  {"dof": 6, "J": [[0, 0, 1], [1, 0, 0], [0, 1, 0]]}]}
  ],
  "guess": [0.0118, 0, 0, 0.002, 0, 0]
}
END

# Two stops that push each other through a wall: no impulse solves it, so a method runs until it is stopped.
cat >endless.json <<'END'
{"tribo_problem": 1, "W": [[1, -1], [-1, 1]],
 "contacts": [{"law": "nonneg", "bias": [-1]}, {"law": "nonneg", "bias": [-1]}]}
END

# A name and a file name that mean harm to HTML, CSV, terminals and shells.
nasty="a,\"b\" <i>'&.json"
sed 's|"a particle on a box"|"</h2><script>alert(\\"1\\")</script> \& \\u001b[31m"|' good.json >"$nasty"
