"""Compares the searches of constrained.vlad and constrained.py.

Arguments: the program vlad; then "all" to list every run, too. A problem counts as solved where the value is within
1e-6 * max(1, |best|) of the known one, or below it, and no condition is violated by more than 1e-6; as local where a
search says that it has converged, the conditions hold, and the value is larger: at another minimum, or too early.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import constrained

METHODS = [("by-sqp", 1, "SLSQP"), ("by-augmented-lagrangian", 2, "trust-constr"), ("by-lbfgs", 3, "L-BFGS-B")]
HERE = os.path.dirname(os.path.abspath(__file__))


def runs(lines):
    """From names to value, violation, whether converged, status, steps and evaluations."""
    found = {}
    for line in lines:
        name, rest = line.split(" ", 1)
        if name == "seconds":
            continue
        before, status, after = rest.split('"')
        if before.strip() == "error":
            found[name] = (float("nan"), float("inf"), False, "error: " + status, 0, 0)
        else:
            value, violation, converged = before.split()
            steps, evaluations = after.split()
            found[name] = (float(value), float(violation), converged == "#t", status, int(steps), int(evaluations))
    return found


def verdict(best, run):
    value, violation, converged = run[:3]
    if violation <= 1e-6 and value <= best + 1e-6 * max(1, abs(best)):
        return "solved"
    return "local" if converged and violation <= 1e-6 else "failed"


def vlad_lines(program, method, rounds):
    return subprocess.run([program], input=f"{method} {rounds}", capture_output=True, text=True).stdout.splitlines()


def vlad_seconds(program, method):
    """The time to solve all problems once, from as many rounds as take about a second."""
    def seconds(rounds):
        started = time.perf_counter()
        vlad_lines(program, method, rounds)
        return time.perf_counter() - started
    once = seconds(1)
    rounds = max(2, round(1 / once))
    return (seconds(rounds) - once) / (rounds - 1)


def python_lines(method):
    return subprocess.run([sys.executable, os.path.join(HERE, "constrained.py"), method, "1"],
                          capture_output=True, text=True).stdout.splitlines()


def check_start(program):
    """Both sides must agree on what the functions are at the start."""
    for ours, theirs in zip(vlad_lines(program, 0, 1), python_lines("start")):
        a, b = ours.replace("(", " ").replace(")", " ").split(), theirs.split()
        same = a[0] == b[0] and len(a) == len(b) and all(
            abs(float(x) - float(y)) <= 1e-12 * max(1, abs(float(y))) for x, y in zip(a[1:], b[1:]))
        if not same:
            sys.exit(f"different at the start: {ours} and {theirs}")


def main():
    vlad = sys.argv[1]
    every = len(sys.argv) > 2 and sys.argv[2] == "all"
    constrained.within_bounds()
    constrained.under_equations()
    constrained.under_inequalities()
    best = {p[0]: p[1] for p in constrained.PROBLEMS}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "constrained")
        subprocess.run([vlad, "build", os.path.join(HERE, "constrained.vlad"), "-o", program], check=True)
        check_start(program)
        solved = set()
        table = []
        details = []
        for ours, number, theirs in METHODS:
            a = runs(vlad_lines(program, number, 1))
            lines = python_lines(theirs)
            b = runs(lines)
            va = {name: verdict(best[name], run) for name, run in a.items()}
            vb = {name: verdict(best[name], run) for name, run in b.items()}
            solved |= {name for v in (va, vb) for name in v if v[name] == "solved"}
            both = [name for name in a if va[name] == vb.get(name) == "solved"]
            ratio = statistics.median(a[name][5] / b[name][5] for name in both)
            seconds = float(lines[-1].split()[1])
            counts = [list(v.values()).count(x) for v in (va, vb) for x in ("solved", "local", "failed")]
            unsure = sum(va[name] == "solved" and not a[name][2] for name in a)
            table.append((ours, theirs, len(a), *counts[:3], unsure, *counts[3:],
                          ratio, seconds / vlad_seconds(program, number)))
            for name in a:
                x, y = a[name], b[name]
                worse = va[name] != "solved" and vb[name] == "solved"
                slow = va[name] == vb[name] == "solved" and x[5] > 1.5 * y[5]
                if every or worse or slow or not x[2]:
                    details.append(f"{name:13}{ours:24}{va[name]:7}{x[0]:<24.16g}{x[1]:<8.1e}{x[4]:6}{x[5]:6}  {x[3]}")
                    details.append(f"{'':13}{theirs:24}{vb[name]:7}{y[0]:<24.16g}{y[1]:<8.1e}{y[4]:6}{y[5]:6}  {y[3]}")
    for name in best:
        if name not in solved:
            print("solved by none:", name)
    print("method, SciPy's, problems; solved, local, failed, solved but not converged; SciPy's solved, local, failed;")
    print("median ratio of evaluations where both have solved it; how much longer SciPy takes for all")
    for row in table:
        print("{:24}{:13}{:4}   {:3}{:4}{:4}{:4}   {:3}{:4}{:4}   {:6.2f}{:8.1f}x".format(*row))
    print("\n".join(details))


if __name__ == "__main__":
    main()
