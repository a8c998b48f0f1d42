"""The backend ``native``: a C kernel of attention with dropout, and its interface."""
