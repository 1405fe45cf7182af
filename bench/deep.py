"""Seconds of a training step in PyTorch, to set beside `cargo run --release -p partita-deep --example step`.

    python bench/deep.py [threads]
"""

import pathlib
import sys
import time

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "crates/partita-deep/tests/golden"))
from networks import ResNet, Vgg4  # noqa: E402

CASES = {
    "mlp 250": (lambda: nn.Sequential(
        nn.Flatten(), nn.Linear(784, 1200), nn.BatchNorm1d(1200), nn.ReLU(), nn.Linear(1200, 1200), nn.BatchNorm1d(1200), nn.ReLU()
    ), 1200, (250, 1, 28, 28)),
    "vgg4 250": (lambda: Vgg4(1), 512 * 9, (250, 1, 24, 24)),
    "resnet18-cifar 64": (lambda: ResNet([2, 2, 2, 2], False, True), 512, (64, 3, 32, 32)),
}


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    for name, (make, features, shape) in CASES.items():
        network = nn.Sequential(make(), nn.Linear(features, 10))
        adam = torch.optim.Adam(network.parameters(), lr=1e-3)
        x, seconds = torch.rand(shape), []
        for _ in range(5):
            started = time.perf_counter()
            p = network(x).softmax(1)
            loss = -(p * p.log()).sum(1).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
            seconds.append(time.perf_counter() - started)
        print(f"{name:<20} {min(seconds):.4f} s")


if __name__ == "__main__":
    main()
