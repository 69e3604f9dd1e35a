"""What the machine has."""

import os
import sys


def machine_bytes() -> int:
    """The machine's memory, as far as it can be asked; else more than anything needs."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return sys.maxsize
