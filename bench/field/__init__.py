"""What others have published on the same data, and the results packs that others submit."""
