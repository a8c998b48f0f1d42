"""What a model costs: parameters, operations, time and memory."""
