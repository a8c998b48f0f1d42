"""From records to comparisons: what stands side by side, what is averaged, and the captions for it."""
