"""What the trained channel mixing does to the correlations between channels."""
