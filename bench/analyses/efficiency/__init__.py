"""What models cost: sizes, operations, speed and memory, beside the paper's figures."""
