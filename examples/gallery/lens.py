import numpy as np
from scipy.optimize import least_squares

focus, aperture, thickness, index, field = 100.0, 30.0, 8.0, 1.52, 2.0


def surface(curvature, conic):
    """How far a surface is behind its middle at the height y, and the slope, by hand."""
    def f(y):
        return curvature * y**2 / (1 + np.sqrt(1 - (1 + conic) * curvature**2 * y**2))

    def slope(y):
        return curvature * y / np.sqrt(1 - (1 + conic) * curvature**2 * y**2)
    return f, slope


def meet(x, y, dx, dy, at, f, slope):
    length = (at - x) / dx
    for _ in range(3):
        height = y + length * dy
        length = length - (x + length * dx - at - f(height)) / (dx - slope(height) * dy)
    return x + length * dx, y + length * dy


def refract(y, dx, dy, slope, ratio):
    s = slope(y)
    nx = 1 / np.sqrt(1 + s**2)
    ny = -s * nx
    cosine = nx * dx + ny * dy
    bend = np.sqrt(1 - ratio**2 * (1 - cosine**2)) - ratio * cosine
    return ratio * dx + bend * nx, ratio * dy + bend * ny


heights = np.linspace(-aperture / 2, aperture / 2, 9)


def spot(lens, angle):
    front, conic, back = lens
    f, f_slope = surface(front / focus, conic)
    b, b_slope = surface(back / focus, 0)
    dx, dy = np.cos(angle), np.sin(angle)
    x, y = meet(-20, heights - 20 * np.tan(angle), dx, dy, 0, f, f_slope)
    dx, dy = refract(y, dx, dy, f_slope, 1 / index)
    x, y = meet(x, y, dx, dy, thickness, b, b_slope)
    dx, dy = refract(y, dx, dy, b_slope, index)
    y = y + (thickness + focus - x) / dx * dy
    return 1000 * (y - np.mean(y))


def misses(lens):
    return np.concatenate([spot(lens, a) for a in (0, np.radians(field))])


thin = 0.5 / (index - 1)
ball = least_squares(lambda p: misses([p[0], 0, p[1]]), [thin, -thin], method="lm")
free = least_squares(misses, [ball.x[0], 0, ball.x[1]], method="lm")
print(f"spot with a spherical front {np.sqrt(ball.cost / len(heights)):.2f} µm")
print(f"spot with a free front {np.sqrt(free.cost / len(heights)):.2f} µm")
print(f"radius of the front {focus / free.x[0]:.2f} mm")
print(f"conic constant of the front {free.x[1]:.2f}")
print(f"radius of the back {focus / free.x[2]:.2f} mm")
