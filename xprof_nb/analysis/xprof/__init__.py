"""xprof's own numbers, odd rules included: what `compat="xprof"` asks for."""
