"""Makes adam.in: two steps of PyTorch's Adam.

    python adam.py > adam.in
"""

import torch

w = torch.tensor([1.0, -2.0], requires_grad=True)
adam = torch.optim.Adam([w], lr=0.1, weight_decay=0.5)
for gradient in ([0.5, -1.0], [-0.25, 0.125]):
    w.grad = torch.tensor(gradient)
    adam.step()
print(w.tolist())
