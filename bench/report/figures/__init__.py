"""The figures of a report, each drawn from studies."""
