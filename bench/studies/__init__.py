"""Records to comparisons: what stands side by side, what is averaged, and what captions say of it."""
