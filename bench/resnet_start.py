"""A start for ResNet-18, made without labels: it learns to give the features that a larger network, trained elsewhere, gives of the same images.

    partita embed data_batch_*.bin --weights mobilenetv2.pt -o features.npy
    python bench/resnet_start.py features.npy START.pth data_batch_*.bin

Needs torch and torchvision (PyPI). The features are those of all the images given, in their order; their names in START.pth are torchvision's.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F
from torchvision.models import resnet18

SIZE, BATCH, EPOCHS, TARGETS = 16, 200, 4, 128


def read(paths):
    """Pixels from 0 to 1, made small as `partita` does."""
    rows = [np.fromfile(path, np.uint8).reshape(-1, 3073)[:, 1:] for path in paths]
    images = torch.from_numpy(np.concatenate(rows)).view(-1, 3, 32, 32).float() / 255
    return F.interpolate(images, SIZE, mode="bicubic", antialias=True).clamp(0, 1)


def targets(path):
    """The features' first principal components, each scaled by the square root of its deviation, so that small ones count."""
    rows = np.load(path).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows -= rows.mean(0)
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    top = slice(-TARGETS, None)
    parts = rows @ vectors[:, top] / values[top] ** 0.25
    return torch.from_numpy(parts / np.linalg.norm(parts, axis=1, keepdims=True))


def network():
    net = resnet18(num_classes=TARGETS)
    net.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)  # the stem for small images
    net.maxpool = torch.nn.Identity()
    return net


def change(batch):
    """Half of the images mirrored, all moved by up to two pixels."""
    batch = torch.where(torch.rand(len(batch), 1, 1, 1) < 0.5, batch, batch.flip(3))
    i, j = torch.randint(0, 5, (2,))
    return F.pad(batch, (2, 2, 2, 2))[:, :, i : i + SIZE, j : j + SIZE]


def main():
    torch.manual_seed(0)
    features, out, *paths = sys.argv[1:]
    x, y, net = read(paths), targets(features), network()
    steps = len(x) // BATCH
    adam = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=1e-2)
    rate = torch.optim.lr_scheduler.OneCycleLR(adam, 2e-3, EPOCHS * steps)
    for epoch in range(EPOCHS):
        total = 0.0
        for rows in torch.randperm(len(x))[: steps * BATCH].view(steps, BATCH):
            loss = (1 - F.cosine_similarity(net(change(x[rows])), y[rows])).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
            rate.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: 1 - cosine {total / steps:.4f}", flush=True)
    torch.save({name: value for name, value in net.state_dict().items() if not name.startswith("fc.")}, out)


main()
