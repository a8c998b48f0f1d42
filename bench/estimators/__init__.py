"""Estimators: classifiers with scikit-learn's interface, by name or a user's own, in the same grid as networks."""
