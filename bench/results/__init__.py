"""The record of a cell, the folder that keeps records, aggregation, statistics and the published numbers."""
