#!/usr/bin/env python3
"""vlad's searches for minima and SciPy's on the problems of Moré, Garbow and Hillstrom.

usage: measure.py VLAD [--runs]

Compiles mgh.vlad with the compiler VLAD, checks that mgh.py computes the same residuals, runs both, and prints a table
in Markdown with a row for each pair of methods; draws profile.svg beside this file. With --runs also every run that
vlad has not solved, where it needs more than 1.5 times the evaluations, or whose status is wrong. If this interpreter
has no SciPy, pip installs it into target/optimisers.

A run has solved a problem if the sum of squares at its place is within 1e-6 of the least one that any run has found, or
is a minimum in the literature to five digits (some are local, or at infinity), or if the place is a local minimum: no
number of the gradient is larger than 1e-5, the Hessian has no negative eigenvalue and is not 0.
"""

import importlib.util
import os
import subprocess
import sys
import time
from math import log2
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent.parent / "target" / "optimisers"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
LONGEST = 600
PAIRS = [
    ("by-bfgs", "BFGS"),
    ("by-lbfgs", "L-BFGS-B"),
    ("by-conjugate-gradients", "CG"),
    ("by-newton", "trust-exact"),
    ("by-newton-cg", "trust-ncg"),
    ("by-nelder-mead", "Nelder-Mead"),
    ("by-levenberg-marquardt", "least_squares, lm"),
]


def with_scipy():
    """Runs this file again with an interpreter that has SciPy."""
    python = TARGET / "python" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", TARGET / "python"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", "scipy"], check=True)
    os.execve(python, [str(python), __file__, *sys.argv[1:]], os.environ | {"VLAD_OPTIMISERS": "1"})


class Run:
    """A line that a program has printed."""

    def __init__(self, line):
        numbers, rest = line.split("[", 1)
        place, self.status = rest.split("]", 1)
        self.problem, _, self.factor, value, converged, self.steps, self.evaluations = numbers.split()
        self.problem, self.factor = int(self.problem), int(self.factor)
        self.value, self.converged = number(value), converged == "1"
        self.steps, self.evaluations = int(self.steps), int(self.evaluations)
        self.place = [number(x) for x in place.split()]
        self.status = self.status.strip()
        self.key = (self.problem, self.factor)


def number(text):
    return float(text.removesuffix(".0") if "inf" in text or "nan" in text else text)


def runs_of(command):
    """The runs that a program prints, by problem and factor, and the seconds that it has taken."""
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LONGEST, env=os.environ | ONE_THREAD
        )
        out, seconds = done.stdout, time.perf_counter() - begin
        if done.returncode != 0:
            print(f"{command}: exit code {done.returncode}: {done.stderr}", file=sys.stderr)
        if "seconds " in done.stderr:
            seconds = float(done.stderr.split("seconds ")[1])
    except subprocess.TimeoutExpired as late:
        print(f"{command}: not done after {LONGEST} seconds", file=sys.stderr)
        out, seconds = (late.stdout or b"").decode(), LONGEST
    runs = [Run(line) for line in out.splitlines() if "]" in line]
    return {run.key: run for run in runs}, seconds


def compare_residuals(program, python):
    """Checks that starts and residuals at two points agree to twelve digits."""
    tables = []
    for command in (program, python):
        lines = subprocess.run([*command, "0"], capture_output=True, text=True, check=True).stdout.splitlines()
        tables.append([[float(x) for x in line.split()] for line in lines if line[:1].isdigit()])
    assert len(tables[0]) == len(tables[1]) == 35
    for ours, theirs in zip(*tables):
        assert len(ours) == len(theirs), f"problem {ours[0]}: different lengths"
        size = max(1, max(map(abs, theirs)))
        for a, b in zip(ours, theirs):
            assert abs(a - b) <= 1e-12 * max(abs(a), abs(b), 1e-3 * size), f"problem {ours[0]}: {a}, {b}"


def judge(mgh, runs, best):
    """Whether each run has solved its problem."""
    import numpy as np

    for run in runs:
        least = best[run.problem]
        known = [y for y in mgh.MINIMA[run.problem - 1] if y > 0]
        run.solved = run.value <= least + 1e-6 * max(1e-3, abs(least)) or any(
            abs(run.value - y) <= 1e-5 * y for y in known
        )
        x = np.array(run.place)
        run.gradient = float("nan")
        if np.all(np.isfinite(x)):
            f = mgh.PROBLEMS[run.problem - 1][0]
            _, g = mgh.value_and_gradient(f, x)
            run.gradient = np.max(np.abs(g))
            if not run.solved and run.gradient <= 1e-5:
                h = mgh.hessian(f, x)
                if np.all(np.isfinite(h)):
                    values = np.linalg.eigvalsh(h)
                    run.solved = bool(values[-1] > 1e-12 and values[0] >= -1e-6 * values[-1])


def check_minima(mgh, best):
    """Warns where the least value found is not that in the literature."""
    for k, known in enumerate(mgh.MINIMA, 1):
        least = best[k]
        if not abs(least - known[0]) <= 1e-5 * abs(known[0]) + 1e-9:
            print(f"{mgh.name(k)}: the least value found is {least}, not {known[0]}", file=sys.stderr)


def table(results):
    print("| vlad | SciPy | solved | | evaluations, ratio | seconds | | ratio | wrongly converged | |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for (ours, theirs), (a, a_time, b, b_time) in zip(PAIRS, results):
        ratios = [a[key].evaluations / b[key].evaluations for key in a if key in b and a[key].solved and b[key].solved]
        wrong = [sum(run.converged and not run.solved for run in runs.values()) for runs in (a, b)]
        solved = [sum(run.solved for run in runs.values()) for runs in (a, b)]
        print(
            f"| `{ours}` | {theirs} | {solved[0]} | {solved[1]} | {median(ratios):.2f} | {a_time:.2f} | {b_time:.2f} "
            f"| {a_time / b_time:.3f} | {wrong[0]} | {wrong[1]} |"
        )


def list_runs(mgh, results):
    for (ours, theirs), (a, _, b, _) in zip(PAIRS, results):
        print(f"\n{ours}, {theirs}:")
        for key, run in a.items():
            other = b.get(key)
            worse = other and run.evaluations > 1.5 * other.evaluations
            unsure = run.solved and not run.converged
            if run.solved and not worse and not unsure:
                continue
            words = [
                "solved" if run.solved else "NOT SOLVED",
                f"value {run.value:.9g} gradient {run.gradient:.1e} steps {run.steps} evaluations {run.evaluations}",
                f"({run.status});",
            ]
            if other:
                words.append(
                    f"SciPy {'solved' if other.solved else 'not solved'} value {other.value:.9g} "
                    f"gradient {other.gradient:.1e} evaluations {other.evaluations} ({other.status})"
                )
            print(f"  {mgh.name(key[0])} x{key[1]}:", *words)
        for key in b.keys() - a.keys():
            print(f"  {mgh.name(key[0])} x{key[1]}: no result of vlad")


def profile(results, path):
    """The part of the runs that each method of a pair solves within a factor of the other's evaluations, at most 16."""
    width, height, across = 230, 150, 4
    colours = ("#c0392b", "#2c6fbb")
    parts = []
    for place, ((ours, theirs), (a, _, b, _)) in enumerate(zip(PAIRS, results)):
        left, top = 40 + place % across * (width + 40), 40 + place // across * (height + 75)
        keys = sorted(a.keys() | b.keys())
        parts.append(f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>')
        for part in (0.25, 0.5, 0.75):
            y = top + height * (1 - part)
            parts.append(f'<path d="M{left},{y}h{width}" stroke="#ddd"/>')
        for part in (0, 0.5, 1):
            parts.append(f'<text x="{left - 5}" y="{top + height * (1 - part) + 4}" text-anchor="end">{part:g}</text>')
        for power in range(5):
            x = left + width * power / 4
            parts.append(f'<text x="{x}" y="{top + height + 15}" text-anchor="middle">{2**power}</text>')
        for which, (runs, others, label) in enumerate(((a, b, ours), (b, a, theirs))):
            needed = []
            for key in keys:
                run, other = runs.get(key), others.get(key)
                if run and run.solved:
                    fewest = min(run.evaluations, other.evaluations if other and other.solved else run.evaluations)
                    needed.append(run.evaluations / fewest)
            points, done = [], 0
            for factor in sorted(factor for factor in needed if factor <= 16):
                x = left + width * min(4.0, max(0.0, log2(factor))) / 4
                points.append(f"{x:.1f},{top + height * (1 - done / len(keys)):.1f}")
                done += 1
                points.append(f"{x:.1f},{top + height * (1 - done / len(keys)):.1f}")
            points.append(f"{left + width},{top + height * (1 - done / len(keys)):.1f}")
            line = " ".join(points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colours[which]}" stroke-width="1.5"/>')
            y = top - 18 + 13 * which
            parts.append(f'<text x="{left + 4}" y="{y}" fill="{colours[which]}">{label}</text>')
    total = (across * (width + 40) + 20, 2 * (height + 75) + 30)
    parts.append(
        f'<text x="40" y="{total[1] - 12}">part of the runs that are solved (upwards) within a factor of the fewest '
        "evaluations of the two methods (to the right)</text>"
    )
    body = "\n".join(parts)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total[0]}" height="{total[1]}" '
        f'viewBox="0 0 {total[0]} {total[1]}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def main(vlad, more=()):
    sys.path.insert(0, str(HERE))
    import mgh
    import numpy as np

    np.seterr(all="ignore")
    TARGET.mkdir(parents=True, exist_ok=True)
    program = TARGET / "mgh"
    subprocess.run([vlad, "build", HERE / "mgh.vlad", "-o", program], check=True)
    compiled, python = [str(program), "--method"], [sys.executable, str(HERE / "mgh.py")]
    compare_residuals(compiled, python)
    results = []
    for method in range(1, len(PAIRS) + 1):
        results.append((*runs_of([*compiled, str(method)]), *runs_of([*python, str(method)])))
    every = [run for a, _, b, _ in results for runs in (a, b) for run in runs.values()]
    best = {k: min(run.value for run in every if run.problem == k and run.value == run.value) for k in range(1, 36)}
    check_minima(mgh, best)
    judge(mgh, every, best)
    table(results)
    if "--runs" in more:
        list_runs(mgh, results)
    profile(results, HERE / "profile.svg")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not importlib.util.find_spec("scipy") and "VLAD_OPTIMISERS" not in os.environ:
        with_scipy()
    main(sys.argv[1], sys.argv[2:])
