"""Planes of TPU cores."""
