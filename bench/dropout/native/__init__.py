"""The backend ``native``: a C kernel of dropout, and its interface."""
