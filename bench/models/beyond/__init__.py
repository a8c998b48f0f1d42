"""Networks that the paper leaves out: convolutions, recurrent nets, state-space models."""
