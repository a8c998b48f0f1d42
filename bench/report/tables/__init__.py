"""The tables of a report, made from studies, as data for any renderer."""
