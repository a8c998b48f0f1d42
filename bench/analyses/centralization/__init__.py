"""How centralized multichannel signals are: the paper's two indices under every reading."""
