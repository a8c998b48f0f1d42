"""Readers of file formats that may be damaged: each gives arrays or one line that says what is wrong."""
