"""By what the ops of a profile can be grouped."""

from __future__ import annotations

from typing import Literal

By = Literal["program", "category", "framework", "source"]
