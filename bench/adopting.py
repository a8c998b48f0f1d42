"""Imported by the process that workers are forked from, and by no other: it takes in what a killed worker leaves."""

import warnings

from bench.descendants import adopt_orphans

adopt_orphans()
# Python's fork server says this of every adopted process that ends.
warnings.filterwarnings("ignore", message="forkserver: waitpid returned unexpected pid")
