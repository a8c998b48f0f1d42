"""How well the features of a model tell the training subjects apart."""
