"""Makes resize.in: a small image resized by Pillow's bicubic filter.

    python resize.py > resize.in
"""

import numpy as np
from PIL import Image

i = np.arange(12)
image = Image.fromarray(((i * i * 37 + i * 11) % 256).astype(np.uint8).reshape(3, 4))
larger = np.asarray(image.resize((6, 5), Image.Resampling.BICUBIC)).flatten().tolist()
smaller = np.asarray(image.resize((2, 2), Image.Resampling.BICUBIC)).flatten().tolist()
print(f"(vec!{larger}, vec!{smaller})")
