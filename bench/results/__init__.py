"""The record of a cell, its predictions, and the results folder: the only disk format of results."""
