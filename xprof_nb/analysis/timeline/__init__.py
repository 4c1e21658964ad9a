"""The timeline: tracks, levels of detail, and what a person asks of a stretch of time."""
