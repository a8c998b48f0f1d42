"""The models that come with the package, networks and estimators: names, sources, variants. Free of torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

MEDFORMER_REPOSITORY = "DL4mHealth/Medformer"
MEDFORMER_PAPER_COMMIT = "446275f"
MEDFORMER_LATEST_COMMIT = "891f65b"
MEDMAMBA_REPOSITORY = "miraclehetech/MedMamba"
MEDMAMBA_COMMIT = "5f13ea1"
ECG_BENCHMARK = "Strodthoff et al., Deep Learning for ECG Analysis, IEEE JBHI 2021"
ECG_BENCHMARK_AT = "helme/ecg_ptbxl_benchmarking@ff776de"
BASELINES = "Wang et al., Time Series Classification from Scratch, IJCNN 2017"
BASELINES_AT = "cauchyturing/UCR_Time_Series_Classification_Deep_Learning_Baseline"

# The paper's twelve, which `all` stands for; variants of these; networks and classical estimators that the paper
# leaves out; networks of the package braindecode; a user's own.
Group = Literal["paper", "variant", "beyond", "classical", "braindecode", "own"]


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """What the registry knows of a model without importing it.

    ``settings`` names the file of published hyperparameters. ``overrides`` turn a class into a named variant.
    ``group`` says what the model is compared with. ``couples_windows`` says what ties the windows of one forward pass
    together in training, other than batch normalisation: ``draws`` of the model's own that they share, or
    ``statistics`` over all of them. ``batch_normalisation`` tells whether it normalises over them. ``path`` is the
    file of a user's own model, ``distribution`` the installed package that offers one; all but the former are found
    by ``module``.
    """

    name: str
    module: str
    class_name: str
    settings: str
    family: str
    paper: str
    repository: str
    commit: str
    notes: str = ""
    group: Group = "paper"
    couples_windows: Literal["draws", "statistics"] | None = None
    batch_normalisation: bool = False
    overrides: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    distribution: str = ""

    @property
    def in_all(self) -> bool:
        """Tell whether ``--models all`` runs the model."""
        return self.group == "paper"

    @property
    def is_own(self) -> bool:
        """Tell whether the model is a user's or another package's, of which nothing is known but its source."""
        return self.path is not None or bool(self.distribution)


@dataclass(frozen=True, kw_only=True)
class EstimatorEntry(ModelEntry):
    """What the registry knows of an estimator without importing it: the entry of a network, and its provider.

    ``provider`` is name and version of the installed package whose class a user has named. ``parameters`` are those of
    the constructor as told in a cell's key; None where they are read from the source, or are not known yet.
    ``settings`` is empty: no file of published hyperparameters belongs to an estimator.
    """

    settings: str = ""
    family: str = "classical"
    repository: str = "-"
    commit: str = "-"
    group: Group = "classical"
    provider: str = ""
    parameters: Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True)
class BraindecodeEntry(ModelEntry):
    """What the registry knows of a network of the package braindecode, which need not be installed.

    Its constructor takes ``n_chans``, ``n_outputs`` and ``n_times``; it is built with our arguments by
    `bench.models.braindecode.adapter`.
    """

    module: str = "braindecode.models"
    settings: str = ""
    family: str = "EEG"
    paper: str = "-"
    repository: str = "braindecode/braindecode"
    commit: str = "-"
    notes: str = "needs the extra 'braindecode'"
    group: Group = "braindecode"
    distribution: str = "braindecode"


def _transformer(
    class_name: str,
    paper: str,
    notes: str = "",
    *,
    couples_windows: Literal["draws", "statistics"] | None = None,
) -> ModelEntry:
    name = class_name.lower()
    return ModelEntry(
        name=name,
        module=f"bench.models.{name}",
        class_name=class_name,
        settings=name,
        family="transformer",
        paper=paper,
        repository=MEDFORMER_REPOSITORY,
        commit=MEDFORMER_PAPER_COMMIT,
        notes=notes,
        couples_windows=couples_windows,
    )


def _medmamba(suffix: str = "", notes: str = "", **overrides: Any) -> ModelEntry:
    return ModelEntry(
        name=f"medmamba{suffix}",
        module="bench.models.medmamba",
        class_name="MedMamba",
        settings="medmamba",
        family="state space",
        paper="He et al., MedMamba: Recasting Mamba for Medical Time Series Classification",
        repository=MEDMAMBA_REPOSITORY,
        commit=MEDMAMBA_COMMIT,
        notes=notes,
        group="variant" if suffix else "paper",
        batch_normalisation=True,
        overrides=overrides,
    )


def _beyond(
    class_name: str,
    family: str,
    paper: str,
    source: str,
    notes: str = "",
    *,
    batch_normalisation: bool = False,
) -> ModelEntry:
    """Return a baseline that the paper leaves out; ``source`` is a repository, with its commit after an @ if known."""
    name = class_name.lower()
    repository, _, commit = source.partition("@")
    return ModelEntry(
        name=name,
        module=f"bench.models.beyond.{name}",
        class_name=class_name,
        settings=name,
        family=family,
        paper=paper,
        repository=repository,
        commit=commit or "-",
        notes=notes,
        group="beyond",
        batch_normalisation=batch_normalisation,
    )


def _classical(
    name: str, class_name: str, notes: str, *, paper: str = "-", repository: str = "-", commit: str = "-"
) -> EstimatorEntry:
    return EstimatorEntry(
        name=name,
        module=f"bench.estimators.{name}",
        class_name=class_name,
        paper=paper,
        repository=repository,
        commit=commit,
        notes=notes,
    )


def braindecode_entry(
    class_name: str, paper: str = "-", *, batch_normalisation: bool = False
) -> BraindecodeEntry:
    """Return the entry of a class of braindecode."""
    return BraindecodeEntry(
        name=f"braindecode.{class_name}",
        class_name=class_name,
        paper=paper,
        batch_normalisation=batch_normalisation,
    )


ENTRIES = [
    _medmamba(),
    _medmamba("-single-scale", "ablation", strides=(5,)),
    _medmamba("-unidirectional", "ablation", bidirectional=False),
    _medmamba("-no-channel-mixing", "ablation", channel_mixing=False),
    _transformer("Autoformer", "Wu et al., Autoformer, NeurIPS 2021", couples_windows="statistics"),
    _transformer("Crossformer", "Zhang & Yan, Crossformer, ICLR 2023"),
    _transformer("FEDformer", "Zhou et al., FEDformer, ICML 2022", "Fourier version, random modes"),
    _transformer(
        "Informer",
        "Zhou et al., Informer, AAAI 2021",
        "draws random numbers in evaluation",
        couples_windows="draws",
    ),
    _transformer("iTransformer", "Liu et al., iTransformer, ICLR 2024"),
    _transformer(
        "MTST",
        "Zhang et al., Multi-resolution Time-Series Transformer, AISTATS 2024",
        "as in the Medformer repository, not the published architecture",
    ),
    _transformer("Nonformer", "Liu et al., Non-stationary Transformers, NeurIPS 2022"),
    _transformer("PatchTST", "Nie et al., PatchTST, ICLR 2023"),
    _transformer(
        "Reformer",
        "Kitaev et al., Reformer, ICLR 2020",
        "draws random numbers in evaluation",
        couples_windows="draws",
    ),
    _transformer("Transformer", "Vaswani et al., Attention Is All You Need, NeurIPS 2017"),
    _transformer(
        "Medformer",
        "Wang et al., Medformer, NeurIPS 2024",
        "the paper's version",
        couples_windows="draws",
    ),
    ModelEntry(
        name="medformer-latest",
        module="bench.models.medformer_latest",
        class_name="MedformerLatest",
        settings="medformer-latest",
        family="transformer",
        paper="Wang et al., Medformer, NeurIPS 2024",
        repository=MEDFORMER_REPOSITORY,
        commit=MEDFORMER_LATEST_COMMIT,
        notes="the repository's later version, recommended by its authors",
        group="variant",
        couples_windows="draws",
    ),
    _beyond("FCN", "convolution", BASELINES, BASELINES_AT, batch_normalisation=True),
    _beyond("ResNet1d", "convolution", BASELINES, BASELINES_AT, batch_normalisation=True),
    _beyond(
        "InceptionTime",
        "convolution",
        "Ismail Fawaz et al., InceptionTime, DMKD 2020",
        "hfawaz/InceptionTime@458e5ca",
        "one network; the published ensemble of five is five seeds",
        batch_normalisation=True,
    ),
    _beyond("XResNet1d101", "convolution", ECG_BENCHMARK, ECG_BENCHMARK_AT, batch_normalisation=True),
    _beyond(
        "ModernTCN",
        "convolution",
        "Luo & Wang, ModernTCN, ICLR 2024",
        "luodhhh/ModernTCN@d84ab59",
        batch_normalisation=True,
    ),
    _beyond(
        "TCN", "convolution", "Bai et al., Generic Convolutional and Recurrent Networks, 2018", "locuslab/TCN"
    ),
    _beyond("BiLSTM", "recurrent", ECG_BENCHMARK, ECG_BENCHMARK_AT, batch_normalisation=True),
    _beyond(
        "Mamba", "state space", "Gu & Dao, Mamba, 2023", "state-spaces/mamba", "plain blocks on time steps"
    ),
    _beyond(
        "S4D",
        "state space",
        "Gu et al., Diagonal State Space Models, NeurIPS 2022",
        "state-spaces/s4@2ed46fc",
    ),
]

ESTIMATORS = [
    _classical("dummy", "Dummy", "class proportions of the training windows"),
    _classical("linear", "Linear", "logistic regression on standardised flattened windows"),
    _classical("spectral", "Spectral", "logistic regression on level, variance and power in octaves"),
    _classical(
        "minirocket",
        "MiniRocket",
        "9,996 features, ridge regression",
        paper="Dempster et al., MiniRocket, KDD 2021",
        repository="angus924/minirocket",
        commit="d11d061",
    ),
]

_SCHIRRMEISTER = "Schirrmeister et al., Deep Learning with CNNs for EEG Decoding, HBM 2017"
# Those that `--models braindecode` stands for; any other class of braindecode can be named.
BRAINDECODE = [
    braindecode_entry("EEGNet", "Lawhern et al., EEGNet, J. Neural Eng. 2018", batch_normalisation=True),
    braindecode_entry(
        "EEGConformer", "Song et al., EEG Conformer, IEEE TNSRE 2023", batch_normalisation=True
    ),
    braindecode_entry("ShallowFBCSPNet", _SCHIRRMEISTER, batch_normalisation=True),
    braindecode_entry("Deep4Net", _SCHIRRMEISTER, batch_normalisation=True),
    braindecode_entry("ATCNet", "Altaheri et al., ATCNet, IEEE TII 2023", batch_normalisation=True),
    braindecode_entry("BDTCN", "Gemein et al., Diagnostics of EEG Pathology, NeuroImage 2020"),
    braindecode_entry(
        "USleep", "Perslev et al., U-Sleep, npj Digital Medicine 2021", batch_normalisation=True
    ),
    braindecode_entry("AttnSleep", "Eldele et al., AttnSleep, IEEE TNSRE 2021", batch_normalisation=True),
]

_BY_NAME = {known.name: known for known in (*ENTRIES, *BRAINDECODE)}


def normalises_over_windows(model: str) -> bool:
    """Tell whether a model's training depends on how many windows a forward pass has; False for a user's own."""
    known = _BY_NAME.get(model)
    return known is not None and (known.batch_normalisation or known.couples_windows == "statistics")
