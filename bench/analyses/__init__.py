"""Analyses beside the results table: what each needs, computes and writes."""
