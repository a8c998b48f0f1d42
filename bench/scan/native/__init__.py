"""The backend ``native``: a C kernel, its build, its interface and its threads."""
