"""What all tests share: no endgames of the user's are found, unless a test makes some."""

from __future__ import annotations

import os
import tempfile

os.environ["SPIELTISCH_DATA_DIR"] = tempfile.mkdtemp(prefix="spieltisch-tests-")
