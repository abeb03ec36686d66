import numpy as np
from scipy.stats import norm

share, strike, rate, volatility, years = 100.0, 105.0, 0.03, 0.2, 1.0
samples = 1000
discount = np.exp(-rate * years)
chances = (np.arange(samples) + np.random.default_rng(1).random(samples)) / samples


def drift(v):
    return years * (rate - v**2 / 2)


def limit(s, v):
    return (np.log(strike / s) - drift(v)) / (v * np.sqrt(years))


def simulated(s, v):
    unused = norm.cdf(limit(s, v))
    z = norm.ppf(unused + (1 - unused) * chances)
    later = s * np.exp(drift(v) + v * np.sqrt(years) * z)
    return discount * (1 - unused) * np.mean(later - strike)


def exact(s, v):
    d = -limit(s, v)
    return s * norm.cdf(d + v * np.sqrt(years)) - discount * strike * norm.cdf(d)


def greeks(price):
    """By differences."""
    ds, dv = 0.01 * share, 0.001
    up, here, down = [price(s, volatility) for s in (share + ds, share, share - ds)]
    vega = (price(share, volatility + dv) - price(share, volatility - dv)) / (2 * dv)
    return here, (up - down) / (2 * ds), (up - 2 * here + down) / ds**2, vega


for name, x, y in zip(["price", "delta", "gamma", "vega"], greeks(simulated), greeks(exact)):
    print(f"{name} {x:.4f}, exactly {y:.4f}")
