"""Planes of NVIDIA and AMD GPUs."""
