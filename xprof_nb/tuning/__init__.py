"""Turning the knobs of a model and measuring what each setting gives."""
