"""Makes zip.pt and legacy.pt: small state dicts as PyTorch of today and of before 1.6 writes them.

    python weights.py
"""

from collections import OrderedDict

import torch

whole = torch.arange(12, dtype=torch.float32).reshape(3, 4)
state = OrderedDict(
    whole=whole,
    transposed=whole.t(),
    part=whole[1:, 2:],
    half=torch.tensor([0.5, -2.0], dtype=torch.float16),
    brain=torch.tensor([1.5, 3.0], dtype=torch.bfloat16),
    double=torch.tensor([0.25], dtype=torch.float64),
    count=torch.tensor(7),
    parameter=torch.nn.Parameter(torch.tensor([[8.0]])),
)
torch.save(state, "zip.pt")
# As in many checkpoints of training, a tensor stands beside the state dict.
torch.save({"epoch": 3, "best": torch.tensor(0.5), "state_dict": state}, "legacy.pt", _use_new_zipfile_serialization=False)
