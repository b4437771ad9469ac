"""Eight learners train one network on handwritten digits, although each has only two to four of the ten digits:

    starling launch -n 8 --rounds 20 -- python3 tools/python/examples/mnist_torch.py --data DIR
    python3 tools/python/examples/mnist_torch.py --central --data DIR     # the same on the data of all, in one place
    python3 tools/python/examples/mnist_torch.py --alone --data DIR       # the best that a learner reaches alone

DIR holds t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz of MNIST; every fifth image is held out.

With such different data, the steps of a learner lead away from what is good for all. The learners therefore average a second
thing besides the network: the direction of their steps. Each corrects its own by the difference (SCAFFOLD, Karimireddy et
al. 2020).
"""
import argparse
import gzip
import math
import os
from pathlib import Path

import numpy as np
import starling
import torch

ROUNDS, EPOCHS, BATCH, RATE, MOMENTUM = 20, 3, 10, 0.03, 0.9
torch.set_num_threads(1)


def read(path):
    """Read an IDX file as an array of bytes."""
    data = gzip.open(path).read()
    shape = [int.from_bytes(data[4 + 4 * d:8 + 4 * d], "big") for d in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def load(folder):
    """Return images [count, 1, 28, 28] from 0 to 1 and digits [count]: of the training, and held out."""
    images = torch.tensor(read(folder / "t10k-images-idx3-ubyte.gz")).unsqueeze(1) / 255
    digits = torch.tensor(read(folder / "t10k-labels-idx1-ubyte.gz")).long()
    held_out = torch.arange(len(images)) % 5 == 0
    return images[~held_out], digits[~held_out], images[held_out], digits[held_out]


def part(images, digits, learner, learners):
    """Sort the images by digit, cut them into 2 * learners equal pieces, and return two pieces for learner 1, 2, ..."""
    pieces = torch.argsort(digits, stable=True).tensor_split(2 * learners)
    mine = torch.cat([pieces[learner - 1], pieces[learner - 1 + learners]])
    return images[mine], digits[mine]


def network():
    """Return a convolutional network, with the same initial weights in every process."""
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 5, 2), torch.nn.GroupNorm(2, 8), torch.nn.ReLU(),
        torch.nn.Conv2d(8, 16, 5, 2), torch.nn.GroupNorm(4, 16), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.Linear(256, 10))


def train(net, images, digits, t, correction=None):
    """Train for round t; add `correction` to each gradient. Return the mean gradient before that, and the mean loss."""
    parameters = list(net.parameters())
    optimizer = torch.optim.SGD(parameters, lr=RATE * (1 + math.cos(math.pi * (t - 1) / ROUNDS)) / 2, momentum=MOMENTUM)
    gradient, losses = [torch.zeros_like(p) for p in parameters], []
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(BATCH):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(images[batch]), digits[batch])
            loss.backward()
            losses.append(loss.item())
            for p, g, c in zip(parameters, gradient, correction or gradient):
                g += p.grad
                if correction:
                    p.grad += c
            optimizer.step()
    return [g / len(losses) for g in gradient], float(np.mean(losses))


def train_here(images, digits):
    """Train on these images alone, as long as a learner does."""
    net = network()
    for t in range(1, ROUNDS + 1):
        train(net, images, digits, t)
    return net


def train_together(images, digits):
    """Train on these images and, through the means, on those of the other learners."""
    net = network()
    own = [torch.zeros_like(p) for p in net.parameters()]
    model = {"network": net.state_dict(), "gradient": own}
    with starling.join(model) as group:
        for t in group:
            net.load_state_dict(model["network"])
            own, loss = train(net, images, digits, t, [c - o for c, o in zip(model["gradient"], own)])
            model = group.mean({"network": net.state_dict(), "gradient": own}, weight=len(images), metrics={"loss": loss})
    net.load_state_dict(model["network"])
    return net


parser = argparse.ArgumentParser(description="see the text at the top of this file")
parser.add_argument("--data", type=Path, required=True)
where = parser.add_mutually_exclusive_group()
where.add_argument("--central", action="store_true")
where.add_argument("--alone", action="store_true")
options = parser.parse_args()
images, digits, test_images, test_digits = load(options.data)


def accuracy(net):
    with torch.no_grad():
        return (net(test_images).argmax(1) == test_digits).float().mean().item()


if options.central:
    reached = accuracy(train_here(images, digits))
elif options.alone:
    reached = max(accuracy(train_here(*part(images, digits, k, 8))) for k in range(1, 9))
else:
    me, learners = int(os.environ["STARLING_LEARNER"]), int(os.environ["STARLING_LEARNERS"])
    reached = accuracy(train_together(*part(images, digits, me, learners)))
print(f"accuracy on held-out images: {reached:.4f}", flush=True)
