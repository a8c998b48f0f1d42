"""The training protocol: batches, schedule, one epoch after another, evaluation and scores."""
