"""The doors into Jupyter: magics in the kernel, REST in the server."""
