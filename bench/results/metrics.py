"""The test scores of a record that tables show, in their order, with their headings."""

METRICS = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "auroc": "AUROC",
    "auprc": "AUPRC",
}
"""Field of `Scores` -> heading; all but the accuracy are macro averages over the classes present."""
