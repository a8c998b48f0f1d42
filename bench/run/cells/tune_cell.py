"""One tried configuration from its data to its record: train, score the validation part; the test part is never cut."""

from bench.measure.memory import peak_bytes
from bench.measure.parameters import count_parameters
from bench.results.record import Record
from bench.results.store import find_record, write_record
from bench.run.cells.finished_cell import CellClock, tested
from bench.run.cells.train_cell import backends_of, train_to_end
from bench.run.failure import environment_of, identity_of
from bench.run.job import Job
from bench.run.news import OnPosition
from bench.run.planned_inputs import FittingParts, build_model, drawn_train, load_data
from bench.train.fit import Fit
from bench.train.seeding import seed_default_generators


def tune_cell(job: Job, on_position: OnPosition) -> tuple[Record, str]:
    """Train and validate one configuration; return its record, and a remark on it.

    Raises
    ------
    DivergedError
        A loss or a logit was not finite.
    DataError, ModelError
        The data, or a user's own model, is not what it was when the cell was planned.
    """
    clock = CellClock()
    settings = job.cell.settings
    dataset = load_data(job)
    parts = FittingParts.of(dataset, job.cell.data.split)
    train = drawn_train(parts.train, settings)
    clock.lap()
    seed_default_generators(settings.seed)
    model = build_model(job, dataset).to(job.device)
    parameters = count_parameters(model, dataset.facts.n_times, dataset.facts.n_channels)
    fit = Fit(model, train, parts.validation, job.training, settings.seed)
    train_to_end(job, fit, on_position)
    clock.lap()
    model.load_state_dict(fit.best_weights)
    scores, _ = tested(model, parts.validation, job, dataset)
    clock.lap()
    kept = find_record(job.out, job.name, job.cell.key)
    if kept is None or not kept.is_done:
        kept = Record(
            **identity_of(job),
            outcome="ok",
            validation=scores,
            history=tuple(fit.history),
            best_epoch=fit.best_epoch,
            micro_batch_size_used=fit.training.micro_batch_size,
            timing=clock.timing(),
            peak_memory_bytes=peak_bytes(job.device),
            parameters=parameters,
            environment=environment_of(job, *backends_of(model)),
        )
        write_record(job.folder, kept)
    job.folder.checkpoint.unlink(missing_ok=True)
    return kept, ""
