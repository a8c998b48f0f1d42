"""The cells of a grid, from their data to their records: trained, tried or fitted."""
