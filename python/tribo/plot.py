# SPDX-License-Identifier: Apache-2.0
"""Pictures with matplotlib: convergence, friction cones, energy. Each returns the axes it drew on.

    solutions = {name: problem.solve(name, start="cold", trace=True) for name in ("pgs", "bgs", "nncg")}
    tribo.plot.convergence(solutions)
    tribo.plot.energy(world.run(seconds=2))
    tribo.plot.cones(problem, solution.impulses)
"""
import numpy as np


def _axes(axes):
    if axes is None:
        import matplotlib.pyplot as pyplot
        axes = pyplot.subplots()[1]
    return axes


def convergence(solutions, axes=None, against="iterations", residual="fclib"):
    """The judge's residual over iterations or over time ('time'), one curve per solver.

    solutions   {label: Solution with a trace}; residual: 'fclib' or 'velocity' (m/s)
    """
    axes = _axes(axes)
    column, row = {"iterations": 0, "time": 1}[against], {"fclib": 2, "velocity": 3}[residual]
    for label, solution in solutions.items():
        if len(solution.trace) == 0:
            raise ValueError(f"{label}: solved without trace=True")
        values = np.maximum(solution.trace[:, row], 1e-17)  # an exact zero has no place on the scale
        axes.plot(solution.trace[:, column], values, label=label)
    axes.set_yscale("log")
    axes.set_xlabel("iteration" if column == 0 else "time, s")
    axes.set_ylabel("residual" + (", m/s" if row == 3 else ""))
    axes.legend()
    return axes


def energy(history, axes=None):
    """Kinetic, potential, elastic energy and their sum over time, of World.run's History."""
    axes = _axes(axes)
    for name in ("kinetic", "potential", "elastic"):
        values = getattr(history, name)
        if np.any(values):
            axes.plot(history.time, values, label=name)
    axes.plot(history.time, history.kinetic + history.potential + history.elastic, "k--", label="total")
    axes.set_xlabel("time, s")
    axes.set_ylabel("energy, J")
    axes.legend()
    return axes


def cones(problem, impulses, axes=None):
    """Where Coulomb impulses lie in their cones: tangential impulses over μ λ_n, with the unit circle (in the plane: over
    contacts, between ±1). Sticking contacts are inside, slipping ones on the edge."""
    axes = _axes(axes)
    impulses = np.asarray(impulses)
    points = []
    for k, law in enumerate(problem.laws):
        first, last = problem.row_start[k], problem.row_start[k + 1]
        mu = problem.params[problem.param_start[k]] if law == "coulomb" else 0.0
        if mu > 0 and impulses[first] > 0:
            points.append(np.resize(impulses[first + 1:last] / (mu * impulses[first]), 2) * (1, last - first > 2))
    points = np.array(points).reshape(-1, 2)
    angle = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.cos(angle), np.sin(angle), "k-", linewidth=1)
    axes.scatter(points[:, 0], points[:, 1], s=12)
    axes.set_aspect("equal")
    axes.set_xlabel("λ_t / μλ_n")
    axes.set_ylabel("λ_b / μλ_n")
    return axes
