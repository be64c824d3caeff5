# SPDX-License-Identifier: Apache-2.0
"""Contact problems, their solutions, and the judge."""
import math
import os
from collections import namedtuple

from . import _native


_keys = {}  # of options, by their last names


def option_key(name):
    """The key of an option: as it is, or by its last name."""
    if not _keys:
        for key, _, _ in _native.list_options():
            _keys.setdefault(key.rpartition(".")[2], key)
        _keys.update(scheme="scheme.name", solver="solver.name", stabilization="scheme.stabilization.kind")
    return _keys.get(name, name)


class Solution(namedtuple("Solution", "outcome impulses residual used iterations time_s setup_s trace")):
    """What a solver returned, as the judge sees it.

    outcome     'converged', 'max_iterations', 'time', 'cancelled' or 'failed'
    impulses    λ, N·s (rows)
    residual
    used        the method that finished
    iterations
    time_s      of the method
    setup_s     of building what it needs
    trace       n × 4: iteration, time_s, residual in fclib's scaling and in m/s; trace=True
    """
    __slots__ = ()

    @property
    def converged(self):
        """Whether the judge confirms the tolerance."""
        return self.outcome == "converged"


class Problem:
    """One step's frictional contact, frozen: A v = A v_free + Jᵀλ, u = J v + b + Rλ, and a law per contact.

        problem = tribo.Problem.load("arch.json")           # Tribo's JSON, FCLIB (HDF5), Siconos' LCP text
        problem = tribo.Problem.from_delassus(W, q, mu)     # numpy or scipy.sparse; W may be unsymmetric
        problem = tribo.Problem.from_metric(A, J, b, mu, v_free)
        problem = world.problem()                           # a step of a world

        solution = problem.solve("bgs", tolerance=1e-10, trace=True)
        solution.impulses, solution.residual.velocity, solution.trace
        problem.compare()                                   # every solver that takes it: rows for pandas
        problem.judge(solution.impulses)                    # one Residual
        problem.workspace()                                 # for many solves with other values
        problem.judge_contacts(solution.impulses)           # the part of each contact
        problem.W, problem.J, problem.A, problem.q

    Rows of a contact: normal, tangents, torsion, rolling. The normal points from body A to body B. A problem never
    changes; its plain arrays (bias, params, v_free, guess, …) are read-only views, W, J, A and q are copies.
    """

    def __init__(self, native):
        if not isinstance(native, _native.Problem):
            raise TypeError("a Problem is made by load, from_delassus, from_metric, generate or World.problem")
        self._native = native

    # Making.

    @classmethod
    def load(cls, path):
        """A file; what it is, is seen by its content."""
        return cls(_native.problem_load(path))

    @classmethod
    def from_delassus(cls, W, q, mu=None, *, law="coulomb", rows=None, params=None, compliance=None, name="problem"):
        """From W (rows × rows) and q. With mu: Coulomb contacts of rows/len(mu) rows each, 2 or 3.

        Other laws: law, rows and params, each for all contacts or a list of one per contact (tribo's laws:
        'free' (bilateral), 'nonneg', 'box', 'coulomb', 'elliptic', 'contensou', 'rolling', 'polyhedral', 'directional', 'tensor').
        """
        W = _csr(W, "W")
        contacts = _contacts(W[0], q, mu, law, rows, params, compliance)
        return cls(_native.problem_from_W(name, W, contacts))

    @classmethod
    def from_metric(cls, A, J, b=None, mu=None, v_free=None, *, law="coulomb", rows=None, params=None, compliance=None,
                    name="problem"):
        """From A (dofs × dofs, or a list of its diagonal blocks) and J (rows × dofs).

        A whole dense A is cut into the blocks it falls into; a scipy.sparse A stays one sparse block.
        """
        J = _csr(J, "J")
        blocks = [_block(block) for block in A] if isinstance(A, (list, tuple)) and _is_blocks(A) else _blocks(A)
        contacts = _contacts(J[0], [0.0] * J[0] if b is None else b, mu, law, rows, params, compliance)
        return cls(_native.problem_from_A(name, blocks, J, [0.0] * J[1] if v_free is None else v_free, contacts))

    @classmethod
    def generate(cls, kind, size=0, friction=-1.0, mass_ratio=0.0, seed=1):
        """Structures at rest under gravity: 'stack', 'wall', 'pyramid', 'arch', 'cards', 'pile'."""
        return cls(_native.problem_generate(kind, size, friction, mass_ratio, seed))

    @classmethod
    def manufacture(cls, contacts=20, seed=1, mass_ratio=1.0, mu_max=1.0, slip=0.3, all_laws=False):
        """A problem with a known answer, which is its guess."""
        return cls(_native.problem_manufacture(seed, contacts, mass_ratio, mu_max, slip, all_laws))

    def save(self, path, format=None):
        """'json' or 'fclib'; None: by the name, .hdf5 and .h5 being FCLIB."""
        if format is None:
            format = "fclib" if os.fspath(path).endswith((".hdf5", ".h5")) else "json"
        if format not in ("json", "fclib"):
            raise ValueError("format: 'json' or 'fclib'")
        self._native._save(path, format == "fclib")

    def to_json(self):
        """The text of its file (docs/problem-format.md); every number reads back to the same bits."""
        return self._native._to_json()

    @classmethod
    def from_json(cls, text):
        """What to_json gave; FCLIB files and Siconos' LCPs are read by load."""
        return cls(_native.problem_parse(text))

    def __reduce__(self):
        return type(self).from_json, (self.to_json(),)

    def __repr__(self):
        return f"<tribo.Problem {self.name!r}: {self.contacts} contacts, {self.rows} rows, {self.dofs} dofs>"

    # What it holds.

    name = property(lambda self: self._native.name, doc="For reports.")
    contacts = property(lambda self: self._native.contacts, doc="How many contacts.")
    rows = property(lambda self: self._native.rows, doc="Rows of all contacts together.")
    dofs = property(lambda self: self._native.dofs, doc="Degrees of freedom of A; 0 where W is given.")
    bias = property(lambda self: self._native.bias, doc="b, or q where W is given, m/s (a view).")
    compliance = property(lambda self: self._native.compliance, doc="R, diagonal (a view).")
    v_free = property(lambda self: self._native.v_free, doc="Velocity if there were no contact (a view).")
    row_start = property(lambda self: self._native.row_start, doc="First row of each contact, and the end (a view).")
    param_start = property(lambda self: self._native.param_start, doc="First parameter of each contact (a view).")
    params = property(lambda self: self._native.params, doc="The laws' parameters; μ for Coulomb's (a view).")
    guess = property(lambda self: self._native.guess, doc="Impulses to start from (a view), or None.")
    laws = property(lambda self: self._native.laws, doc="The law of each contact, by name.")
    q = property(lambda self: self._native._q(), doc="J v_free + b, m/s (a copy).")
    islands = property(lambda self: self._native._structure("islands"), doc="The island of each contact.")
    colours = property(lambda self: self._native._structure("colours"), doc="Neighbours never share a colour.")
    layers = property(lambda self: self._native._structure("layers"), doc="How far each contact is from the ground.")

    @property
    def W(self):
        """The Delassus operator, dense (a copy)."""
        return self._native._delassus(False)

    @property
    def W_sparse(self):
        """The same as scipy.sparse.csr_array."""
        from scipy.sparse import csr_array
        ptr, col, val = self._native._delassus(True)
        return csr_array((val, col, ptr), shape=(self.rows, self.rows))

    @property
    def J(self):
        """The Jacobian, dense (a copy)."""
        return self._dense(self._native._jacobian(), self.rows)

    @property
    def J_sparse(self):
        return self._sparse(self._native._jacobian(), self.rows)

    @property
    def A(self):
        """The metric, dense (a copy)."""
        return self._dense(self._native._metric(), self.dofs)

    @property
    def A_sparse(self):
        return self._sparse(self._native._metric(), self.dofs)

    def _dense(self, entries, rows):
        import numpy
        matrix = numpy.zeros((rows, self.dofs))
        numpy.add.at(matrix, (entries[0], entries[1]), entries[2])
        return matrix

    def _sparse(self, entries, rows):
        from scipy.sparse import coo_array
        return coo_array((entries[2], (entries[0], entries[1])), shape=(rows, self.dofs)).tocsr()

    # Solving.

    def solve(self, solver="auto", *, start=None, trace=False, threads=1, **options):
        """Solves it and returns a Solution; not converging is a result with a residual, not an error.

        start    impulses to start from; None: the guess of the problem, or zeros; 'cold': zeros
        trace    judges every iteration, for convergence curves
        options  tolerance (fclib's scaling, 1e-8), velocity_tolerance (m/s), iterations, time_budget (s), order,
                 model, …: tribo.options() lists them
        """
        return Solution(*self._native._solve(_chosen(solver, options), self._start(start), trace, threads))

    def workspace(self):
        """A Workspace for many solves of this pattern."""
        return Workspace(self)

    def _start(self, start):
        if isinstance(start, str) and start == "cold" or start is None and self.guess is None:
            return [0.0] * self.rows
        return self.guess if start is None else start

    def compare(self, solvers=None, **options):
        """Runs solvers from the same start and returns one dict for each: pandas.DataFrame(problem.compare()).

        None: every solver of the table; those that do not take the problem say why in 'refused'. Zeros are the start
        unless another is given, and options are those of solve. A function among the solvers is one of your own: it is
        called with the problem and the start, returns impulses, and is judged like the others:

            def sweeps(problem, start): …
            problem.compare(["bgs", sweeps], tolerance=1e-6)
        """
        options.setdefault("start", "cold")
        names = [row[0] for row in _native.list_solvers()] if solvers is None else list(solvers)
        return [self._race_own(name, dict(options)) if callable(name) else self._race(name, dict(options)) for name in names]

    def _race_own(self, function, options):
        import time
        start = list(self._start(options["start"]))
        began = time.perf_counter()
        impulses = function(self, start)
        seconds = time.perf_counter() - began
        residual = self.judge(impulses, options.get("model", "cone"), options.get("directions", 8))
        tolerance, velocity = options.get("tolerance", 1e-8), options.get("velocity_tolerance", math.inf)
        good = residual.fclib <= tolerance and residual.velocity <= velocity
        return {"solver": getattr(function, "__name__", repr(function)), "outcome": "converged" if good else "not converged",
                "residual": residual.fclib, "velocity": residual.velocity, "iterations": 0, "time_s": seconds,
                "setup_s": 0.0, "used": "", "refused": None}

    def _race(self, name, options):
        row = {"solver": name, "outcome": "refused", "residual": float("nan"), "velocity": float("nan"),
               "iterations": 0, "time_s": float("nan"), "setup_s": float("nan"), "used": "", "refused": None}
        row["refused"] = self._native._refuses(name, options.get("model", "cone"))
        if row["refused"] is not None:
            return row
        try:
            s = self.solve(name, **options)
        except (_native.UnsupportedError, _native.NumericError, _native.OutOfMemory) as error:
            row["refused"] = str(error)
            return row
        row.update(outcome=s.outcome, residual=s.residual.fclib, velocity=s.residual.velocity, iterations=s.iterations,
                   time_s=s.time_s, setup_s=s.setup_s, used=s.used)
        return row

    # The judge.

    def judge(self, impulses, model="cone", directions=8):
        """How good impulses are: a Residual, which no solver shares code with."""
        return self._native._judge(impulses, model, directions)[0]

    def judge_contacts(self, impulses, model="cone", directions=8):
        """The part of each contact, ‖F_k‖ in fclib's scaling (contacts)."""
        return self._native._judge(impulses, model, directions)[3]

    def contact_velocities(self, impulses):
        """u = W λ + q (rows), m/s."""
        return self._native._judge(impulses, "cone", 8)[1]

    def velocities(self, impulses):
        """v = v_free + A⁻¹Jᵀλ (dofs)."""
        return self._native._judge(impulses, "cone", 8)[2]


class Workspace:
    """Many solves of one pattern: values change; factors, colours, islands and memory are kept.

        space = problem.workspace()                    # a copy: the problem stays as it is
        for lean in angles:
            space.update(v_free=falling(lean))         # bias, v_free, params, compliance: those that change
            solution = space.solve("bgs", tolerance=1e-6)

    A solve starts from the impulses of the last one unless told otherwise, and has the bits of Problem.solve on a
    problem of the same values from the same start.
    """

    def __init__(self, problem):
        if not isinstance(problem, Problem):
            raise TypeError("a Workspace is made of a Problem")
        self._native = _native.workspace(problem._native)
        self._last = problem.guess

    rows = property(lambda self: self._native.rows, doc="Rows of all contacts together.")
    dofs = property(lambda self: self._native.dofs, doc="Degrees of freedom of A; 0 where W is given.")

    def __repr__(self):
        return f"<tribo.Workspace: {self.rows} rows, {self.dofs} dofs>"

    def update(self, *, bias=None, v_free=None, params=None, compliance=None):
        """New values, laid out as a Problem's; None: as they are. All of them are taken, or none."""
        self._native._update(bias, v_free, params, compliance)

    def update_like(self, problem):
        """All values, those of W, or of A and J, too, from a problem of the same pattern; another is refused."""
        if not isinstance(problem, Problem):
            raise TypeError("values are taken from a Problem")
        self._native._update_like(problem._native)

    def solve(self, solver="auto", *, start=None, trace=False, threads=1, **options):
        """As Problem.solve.

        start    None: the impulses of the last solve, of the first one the problem's guess or zeros; 'cold': zeros
        """
        if isinstance(start, str) and start == "cold" or start is None and self._last is None:
            start = [0.0] * self.rows
        solution = Solution(*self._native._solve(_chosen(solver, options), self._last if start is None else start, trace,
                                                 threads))
        self._last = solution.impulses
        return solution


def _chosen(solver, options):
    chosen = {"solver.name": solver}
    chosen.update({option_key(key): value for key, value in options.items()})
    return chosen


# Numbers from numpy and from lists.

def reals(values, name):
    """As an array; what numpy would make numbers of though it is none (text, complex numbers) is refused."""
    import numpy
    array = numpy.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, got {array.dtype}")
    return array


def _floats(values, name):
    """The same without numpy, as a list."""
    for value in [values] if isinstance(values, (str, bytes, bytearray)) else values:
        if isinstance(value, (str, bytes, complex)) or getattr(getattr(value, "dtype", None), "kind", "f") not in "fiub":
            raise TypeError(f"{name}: expected real numbers, got {type(value).__name__}")
    return [float(value) for value in values]


# Matrices to compressed rows: (rows, columns, indptr, indices, data).

def _csr(matrix, name):
    if hasattr(matrix, "tocsr"):  # scipy.sparse
        matrix = matrix.tocsr().copy()
        matrix.sum_duplicates()
        return (*matrix.shape, matrix.indptr, matrix.indices, matrix.data)
    import numpy
    matrix = reals(matrix, name)
    if matrix.ndim != 2:
        raise ValueError(f"{name}: expected a matrix, got {matrix.ndim} dimensions")
    if not numpy.isfinite(matrix).all():
        raise ValueError(f"{name}: holds numbers that are not finite")
    rows, columns = numpy.nonzero(matrix)
    starts = numpy.searchsorted(rows, numpy.arange(matrix.shape[0] + 1))
    return (*matrix.shape, starts, columns, matrix[rows, columns].astype(float))


def _is_blocks(blocks):
    return all(hasattr(block, "tocsr") or _depth(block) == 2 for block in blocks)


def _depth(block):
    if hasattr(block, "ndim"):
        return block.ndim
    return 1 + _depth(block[0]) if isinstance(block, (list, tuple)) and block else 0


def _block(block):
    return _csr(block, "A") if hasattr(block, "tocsr") else block


def _blocks(A):
    """A whole A: sparse as it is, dense as the diagonal blocks it falls into."""
    if hasattr(A, "tocsr"):
        return [_csr(A, "A")]
    import numpy
    A = reals(A, "A")
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("A: expected a square matrix")
    blocks, first, reach = [], 0, 0
    for i in range(len(A)):
        used = numpy.flatnonzero((A[i] != 0) | (A[:, i] != 0))
        reach = max(reach, i, used[-1] if len(used) else i)
        if reach == i:
            blocks.append(numpy.ascontiguousarray(A[first:i + 1, first:i + 1]))
            first = i + 1
    return blocks


def _contacts(rows, bias, mu, law, row_counts, params, compliance):
    """(law, rows, params, bias, compliance) of the contacts, one after the other."""
    if mu is not None:
        mu = _floats(mu if hasattr(mu, "__len__") else [mu] * (rows // 3), "mu")
        if not mu and rows or mu and rows % len(mu):
            raise ValueError(f"mu: {rows} rows do not divide into {len(mu)} contacts")
        counts = [rows // len(mu)] * len(mu) if mu else []
        params = [[m] for m in mu] if params is None else params
    elif row_counts is None:
        raise ValueError("give mu, or law, rows and params")
    else:
        row_counts = int(row_counts) if not hasattr(row_counts, "__len__") else row_counts
        counts = [row_counts] * (rows // max(1, row_counts)) if isinstance(row_counts, int) else list(row_counts)
        params = [()] * len(counts) if params is None else params
    laws = [law] * len(counts) if isinstance(law, str) else list(law)
    numbers = _floats([x for row in params for x in (row if hasattr(row, "__len__") else [row])], "params")
    return ([_native.law_index(name) for name in laws], counts, numbers, bias,
            [0.0] * rows if compliance is None else compliance)
