"""Bytes to tables: one file a format."""
