"""The nouns: profiles, devices, events, programs, hardware. Imports nothing of the other rooms."""
