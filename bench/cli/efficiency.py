"""``bench efficiency``: Measure parameters, operations, speed and memory of models."""

from bench.analyses.efficiency.record import ANALYSIS
from bench.cli.analysis_command import analysis_command

command = analysis_command(ANALYSIS)
