"""Bidirectional LSTM: which outputs are classified."""

import torch

from bench.models.beyond.bilstm import BiLSTM


def test_each_order_gives_its_own_last_output() -> None:
    model = BiLSTM(n_channels=2, n_times=12, n_classes=2, d_model=4, n_layers=1).eval()
    read: list[torch.Tensor] = []
    model.head.hidden.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    x = torch.randn(3, 12, 2)
    model.features(x)
    outputs, (last, _) = model.recurrent(x)
    expected = torch.cat([outputs.mean(1), outputs.max(1).values, last[0], last[1]], dim=-1)
    torch.testing.assert_close(read[0], expected)
