"""What the C kernels have in common: their build at first use, their loading, their vectors, their threads."""
