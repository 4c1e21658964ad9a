"""Where profiles live: finding runs, the log-dir layout, the sidecar."""

from __future__ import annotations

from xprof_nb.runs.layout import default_logdir

__all__ = ["default_logdir"]
