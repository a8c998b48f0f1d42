"""Whether a model's features separate classes or persons."""
