import numpy as np

samples, warm_up, leaps, step = 600, 50, 5, 0.25
rng = np.random.default_rng(1)
doses = np.array([-1.5, -1, -0.5, 0, 0.5, 1, 1.5])
animals = np.full(7, 12)
deaths = np.array([1, 0, 3, 5, 9, 10, 12])


def potential(q):
    x = q[0] + q[1] * doses
    return q @ q / 50 - np.sum(deaths * x - animals * np.logaddexp(0, x))


def slope(q):
    """The gradient of the potential, by hand."""
    x = q[0] + q[1] * doses
    miss = animals / (1 + np.exp(-x)) - deaths
    return q / 25 + np.array([np.sum(miss), np.sum(miss * doses)])


def energy(q, p):
    return potential(q) + p @ p / 2


q, chain, accepted = np.zeros(2), [], []
for i in range(warm_up + samples):
    p = rng.normal(size=2)
    q1, p1 = q, p
    for _ in range(leaps):
        p1 = p1 - step / 2 * slope(q1)
        q1 = q1 + step * p1
        p1 = p1 - step / 2 * slope(q1)
    accept = rng.random() < np.exp(energy(q, p) - energy(q1, p1))
    q = q1 if accept else q
    chain.append(q)
    accepted.append(accept)

a, b = np.array(chain[warm_up:]).T
for name, values in [("intercept", a), ("slope", b), ("dose that kills half", np.exp(-a / b))]:
    print(f"{name} {np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}")
print(f"accepted {np.mean(accepted[warm_up:]):.3f}")
