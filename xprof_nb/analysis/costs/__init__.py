"""FLOPs and bytes of HLO instructions, counted from the program."""
