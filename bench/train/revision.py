"""The revision of the trainer, part of every cell's key; bump it when a change can alter results."""

REVISION = 2
