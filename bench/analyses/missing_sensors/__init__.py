"""How macro F1 falls when channels are missing at test time."""
