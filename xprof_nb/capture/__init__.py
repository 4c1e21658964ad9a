"""Taking a profile of work in this process. The only room, with tuning, that imports jax."""
