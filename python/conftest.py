"""What is left out where an optional package is missing."""

from importlib.util import find_spec

collect_ignore = ["partita/torch.py"] if find_spec("torch") is None else []
