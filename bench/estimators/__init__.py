"""Estimators: classifiers that speak scikit-learn, by name or a user's own, through the same grid as networks."""
