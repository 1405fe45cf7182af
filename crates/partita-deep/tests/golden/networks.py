"""Makes networks.json: outputs of the networks in PyTorch, with weights and inputs from a formula that the tests repeat.

    python networks.py > networks.json

Made with PyTorch 2.15 on the CPU.
"""

import json

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)


def numbers(name, count):
    """`count` numbers in [-1, 1) that depend on `name` only: FNV-1a, then SplitMix64."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) % 2**64
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(40)).astype(np.float64) / 2**23 - 1).astype(np.float32)


def fill(network):
    """Give every tensor of a network its numbers, scaled so that signals neither fade nor grow."""
    state = network.state_dict()
    for name, tensor in state.items():
        if name.endswith("num_batches_tracked"):
            continue
        u = torch.from_numpy(numbers(name, tensor.numel())).reshape(tensor.shape)
        if tensor.dim() > 1:
            u = u * (6 / tensor[0].numel()) ** 0.5
        elif name.endswith("running_var"):
            u = 1 + 0.5 * u
        elif name.endswith("weight"):
            u = 1 + 0.1 * u
        else:
            u = 0.1 * u
        tensor.copy_(u)
    return network


def conv_bn(c, k, size, stride=1, groups=1, activation=True, eps=1e-5, padding=None):
    padding = size // 2 if padding is None else padding
    layers = [nn.Conv2d(c, k, size, stride, padding, groups=groups, bias=False), nn.BatchNorm2d(k, eps=eps)]
    return nn.Sequential(*layers, nn.ReLU6()) if activation else nn.Sequential(*layers)


class Inverted(nn.Module):
    """MobileNetV2's block, with torchvision's names."""

    def __init__(self, c, k, stride, expand):
        super().__init__()
        hidden = c * expand
        layers = [conv_bn(c, hidden, 1)] if expand > 1 else []
        layers += [conv_bn(hidden, hidden, 3, stride, hidden), nn.Conv2d(hidden, k, 1, bias=False), nn.BatchNorm2d(k)]
        self.conv, self.short = nn.Sequential(*layers), stride == 1 and c == k

    def forward(self, x):
        return x + self.conv(x) if self.short else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        layers, c = [conv_bn(3, 32, 3, 2)], 32
        rows = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
        for expand, k, repeat, stride in rows:
            for i in range(repeat):
                layers.append(Inverted(c, k, stride if i == 0 else 1, expand))
                c = k
        self.features = nn.Sequential(*layers, conv_bn(c, 1280, 1))

    def forward(self, x):
        return self.features(x).mean((2, 3))


class Same(nn.Conv2d):
    """TensorFlow's "same" padding: what is odd goes after the image."""

    def forward(self, x):
        pads = []
        for extent in (x.shape[3], x.shape[2]):
            k, s = self.kernel_size[0], self.stride[0]
            total = max((-(-extent // s) - 1) * s + k - extent, 0)
            pads += [total // 2, total - total // 2]
        return nn.functional.conv2d(nn.functional.pad(x, pads), self.weight, None, self.stride, 0, 1, self.groups)


class LiteBlock(nn.Module):
    def __init__(self, c, k, size, stride, expand):
        super().__init__()
        hidden, self.expand, self.short = c * expand, expand > 1, stride == 1 and c == k
        if self.expand:
            self._expand_conv, self._bn0 = Same(c, hidden, 1, bias=False), nn.BatchNorm2d(hidden, eps=1e-3)
        self._depthwise_conv = Same(hidden, hidden, size, stride, groups=hidden, bias=False)
        self._bn1 = nn.BatchNorm2d(hidden, eps=1e-3)
        self._project_conv, self._bn2 = Same(hidden, k, 1, bias=False), nn.BatchNorm2d(k, eps=1e-3)

    def forward(self, x):
        h = nn.functional.relu6(self._bn0(self._expand_conv(x))) if self.expand else x
        h = nn.functional.relu6(self._bn1(self._depthwise_conv(h)))
        h = self._bn2(self._project_conv(h))
        return x + h if self.short else h


class EfficientNetLite0(nn.Module):
    def __init__(self):
        super().__init__()
        self._conv_stem, self._bn0, c = Same(3, 32, 3, 2, bias=False), nn.BatchNorm2d(32, eps=1e-3), 32
        rows = [(1, 16, 1, 3, 1), (6, 24, 2, 3, 2), (6, 40, 2, 5, 2), (6, 80, 3, 3, 2)]
        rows += [(6, 112, 3, 5, 1), (6, 192, 4, 5, 2), (6, 320, 1, 3, 1)]
        blocks = []
        for expand, k, repeat, size, stride in rows:
            for i in range(repeat):
                blocks.append(LiteBlock(c, k, size, stride if i == 0 else 1, expand))
                c = k
        self._blocks = nn.ModuleList(blocks)
        self._conv_head, self._bn1 = Same(c, 1280, 1, bias=False), nn.BatchNorm2d(1280, eps=1e-3)

    def forward(self, x):
        x = nn.functional.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        return nn.functional.relu6(self._bn1(self._conv_head(x))).mean((2, 3))


class Residual(nn.Module):
    """ResNet's basic (two convolutions) and bottleneck (three) blocks, with torchvision's names."""

    def __init__(self, c, width, stride, bottleneck, keras):
        super().__init__()
        k = 4 * width if bottleneck else width
        # torchvision strides at the 3x3 convolution, Keras and Caffe at the first 1x1.
        first, second = (stride, 1) if keras else (1, stride)
        shapes = [(c, width, 1, first), (width, width, 3, second), (width, k, 1, 1)]
        shapes = shapes if bottleneck else [(c, width, 3, stride), (width, width, 3, 1)]
        self.depth = len(shapes)
        for i, (a, b, size, s) in enumerate(shapes, 1):
            self.add_module(f"conv{i}", nn.Conv2d(a, b, size, s, size // 2, bias=False))
            self.add_module(f"bn{i}", nn.BatchNorm2d(b))
        self.downsample = None
        if stride != 1 or c != k:
            self.downsample = nn.Sequential(nn.Conv2d(c, k, 1, stride, bias=False), nn.BatchNorm2d(k))

    def forward(self, x):
        h = x
        for i in range(1, self.depth + 1):
            h = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(h))
            h = h if i == self.depth else torch.relu(h)
        return torch.relu(h + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """Stems: imagenet is torchvision's; cifar and stl are SCAN's, a 3x3 convolution, stl with pooling after it."""

    def __init__(self, depths, bottleneck, stem, keras=False):
        super().__init__()
        self.keras = keras
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False) if stem == "imagenet" else nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        self.pool = {"imagenet": nn.MaxPool2d(3, 2, 1), "cifar": nn.Identity(), "stl": nn.MaxPool2d(2, 2, 1)}[stem]
        self.bn1, c = nn.BatchNorm2d(64), 64
        for stage, depth in enumerate(depths):
            blocks, width = [], 64 << stage
            for i in range(depth):
                blocks.append(Residual(c, width, 2 if stage > 0 and i == 0 else 1, bottleneck, keras))
                c = 4 * width if bottleneck else width
            self.add_module(f"layer{stage + 1}", nn.Sequential(*blocks))
        if keras:
            for module in self.modules():
                if isinstance(module, nn.BatchNorm2d):
                    module.eps = 1e-3

    def forward(self, x):
        x = x.flip(1) if self.keras else x
        x = self.pool(torch.relu(self.bn1(self.conv1(x))))
        for stage in range(1, 5):
            x = getattr(self, f"layer{stage}")(x)
        return x.mean((2, 3))


class Vgg4(nn.Module):
    """The network of IIC: 5x5 convolutions, pooling after the first three."""

    def __init__(self, channels):
        super().__init__()
        layers, c = [], channels
        for k in (64, 128, 256, 512):
            layers += [nn.Conv2d(c, k, 5, 1, 2, bias=False), nn.BatchNorm2d(k), nn.ReLU()]
            layers += [nn.MaxPool2d(2, 2)] if k < 512 else []
            c = k
        self.features = nn.Sequential(*layers)

    def forward(self, x):
        return self.features(x).flatten(1)


class Mlp(nn.Module):
    def __init__(self, m, width):
        super().__init__()
        self.features = nn.Sequential(
            nn.Linear(m, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU()
        )

    def forward(self, x):
        return self.features(x.flatten(1))


NETWORKS = {
    "mobilenetv2": (MobileNetV2, (3, 64, 64)),
    "efficientnet-lite0": (EfficientNetLite0, (3, 61, 61)),
    "resnet18": (lambda: ResNet([2, 2, 2, 2], False, "imagenet"), (3, 64, 64)),
    "resnet18-cifar": (lambda: ResNet([2, 2, 2, 2], False, "cifar"), (3, 16, 16)),
    "resnet18-stl": (lambda: ResNet([2, 2, 2, 2], False, "stl"), (3, 24, 24)),
    "resnet50": (lambda: ResNet([3, 4, 6, 3], True, "imagenet"), (3, 64, 64)),
    "resnet50-keras": (lambda: ResNet([3, 4, 6, 3], True, "imagenet", keras=True), (3, 64, 64)),
    "vgg4": (lambda: Vgg4(1), (1, 20, 20)),
    "mlp": (lambda: Mlp(35, 40), (1, 5, 7)),
}


def main():
    golden = {}
    for name, (make, shape) in NETWORKS.items():
        x = torch.from_numpy(numbers("input", 4 * int(np.prod(shape)))).reshape(4, *shape)
        with torch.no_grad():
            network = fill(make()).eval()
            tested = network(x)
            trained = network.train()(x)
        # A spread of the features of every image: enough to tell any wrong wire.
        step = max(1, tested.shape[1] // 12)
        golden[name] = {
            "shape": shape,
            "features": tested.shape[1],
            "step": step,
            "tested": tested[:, ::step].flatten().tolist(),
            "trained": trained[:, ::step].flatten().tolist(),
        }
    print(json.dumps(golden, separators=(",", ":")))


if __name__ == "__main__":
    main()
