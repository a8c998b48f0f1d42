"""The backend ``triton``: two GPU kernels written in Triton, and what calls them."""
