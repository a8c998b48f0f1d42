"""Everything that is true of the MedMamba paper only: its published numbers, names, order and claims."""
