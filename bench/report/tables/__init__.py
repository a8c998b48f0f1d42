"""The tables of a report: each from studies, as data that any renderer can show."""
