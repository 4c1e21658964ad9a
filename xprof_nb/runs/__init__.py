"""Where profiles live: finding runs, the log-dir layout, the sidecar."""
