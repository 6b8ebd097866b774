"""What the runs of each room read, and who has read them."""

from __future__ import annotations
