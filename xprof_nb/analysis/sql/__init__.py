"""SQL over the tables of a profile, locked up and bounded."""
