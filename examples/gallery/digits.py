import numpy as np

images, noise, hidden, rounds, size = 100, 0.1, 8, 5, 10
rng = np.random.default_rng(1)
bitmaps = """01110100011001110101110011000101110 00100011000010000100001000010001110
01110100010000100010001000100011111 11111000100010000010000011000101110
00010001100101010010111110001000010 11111100001111000001000011000101110
00110010001000011110100011000101110 11111000010001000100010000100001000
01110100011000101110100011000101110 01110100011000101111000010001001100"""
bitmaps = np.array([[float(c) for c in word] for word in bitmaps.split()])


def make_images():
    digits = np.arange(images) % 10
    flips = rng.random((images, 35)) < noise
    return np.abs(bitmaps[digits] - flips), digits


def layer(inputs, outputs):
    return [rng.normal(size=(inputs, outputs)) / np.sqrt(inputs), np.zeros(outputs)]


def network(net, x):
    w1, b1, w2, b2 = net
    h = np.tanh(x @ w1 + b1)
    return h, h @ w2 + b2


def gradient(net, x, digits):
    """Of the mean of minus the logarithm of the probability, by hand."""
    h, y = network(net, x)
    dy = np.exp(y - y.max(axis=1, keepdims=True))
    dy /= dy.sum(axis=1, keepdims=True)
    dy[np.arange(len(x)), digits] -= 1
    dy /= len(x)
    dh = (dy @ net[2].T) * (1 - h**2)
    return [x.T @ dh, dh.sum(axis=0), h.T @ dy, dy.sum(axis=0)]


seen, unseen = make_images(), make_images()
net = layer(35, hidden) + layer(hidden, 10)
m = [np.zeros_like(w) for w in net]
v = [np.zeros_like(w) for w in net]
t = 0
for _ in range(rounds):
    order = rng.permutation(images)
    for k in range(0, images, size):
        batch = order[k:k + size]
        t += 1
        for i, g in enumerate(gradient(net, seen[0][batch], seen[1][batch])):
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g**2
            net[i] = net[i] - 0.03 * (m[i] / (1 - 0.9**t)) / (np.sqrt(v[i] / (1 - 0.999**t)) + 1e-8)


def accuracy(x, digits):
    return 100 * np.mean(np.argmax(network(net, x)[1], axis=1) == digits)


print(f"reads images that it has seen: {accuracy(*seen):.1f} %")
print(f"reads new images: {accuracy(*unseen):.1f} %")
