"""The sections of a report, one file each; `bench.report.contents` has their order."""
