"""A saved W&B view of a run's cells, curves and scores."""

import importlib
from types import ModuleType
from typing import Any

from icpo.errors import ConfigError

SCORES = {"mean_at_k": "Mean@k", "accuracy": "Accuracy", "majority_at_k": "Maj@k", "pass_at_k": "pass@k"}


def save_workspace(run_name: str, *, project: str, entity: str | None) -> str:
    """Saves the view on the W&B server and returns its address.

    Raises:
        ConfigError: the package is missing, there is no key or login, or the server cannot be reached.
    """
    wandb = importlib.import_module("wandb")
    _load("workspaces")
    try:
        owner = entity or wandb.Api().default_entity
        view = workspace(run_name, project=project, entity=owner).save()
    except (wandb.errors.Error, OSError, ValueError) as error:
        raise ConfigError(
            f"The W&B view of {run_name} cannot be saved: {error}. Run `wandb login` and `wandb sync` first, "
            f"or use `python -m icpo.dashboard {run_name}`, which needs no server."
        ) from error
    return str(view.url)


def workspace(run_name: str, *, project: str, entity: str) -> Any:
    """The view of a group: scores, progress and costs."""
    spaces, reports = _load("workspaces"), _load("reports.v2")
    bars = [
        reports.BarPlot(title=title, metrics=[reports.SummaryMetric(f"{name}.value")], range_x=(0, 1))
        for name, title in SCORES.items()
    ]
    progress = [
        reports.LinePlot(title="Mean@k as questions finish", x="Step", y=["mean_at_k"], range_y=(0, 1)),
        reports.LinePlot(title="generated tokens", x="Step", y=["generated_tokens"]),
    ]
    accuracy = reports.SummaryMetric("accuracy.value")
    cost = reports.ScatterPlot(
        title="Accuracy against tokens", x=reports.SummaryMetric("generated_tokens"), y=accuracy
    )
    return spaces.Workspace(
        entity=entity,
        project=project,
        name=f"ICPO {run_name}",
        sections=[
            spaces.Section(name="Scores", panels=bars, is_open=True),
            spaces.Section(name="Progress", panels=progress, is_open=True),
            spaces.Section(name="Costs", panels=[cost], is_open=True),
        ],
        runset_settings=spaces.RunsetSettings(
            filters=spaces.And(spaces.Metric("Group") == run_name),
            order=[spaces.Ordering(spaces.Summary("benchmark"), ascending=True)],
            pinned_columns=[f"summary:{name}.value" for name in SCORES],
        ),
    )


def _load(part: str) -> ModuleType:
    """A part of wandb_workspaces, imported here alone so that all else runs without it."""
    try:
        return importlib.import_module(f"wandb_workspaces.{part}")
    except ImportError as error:
        raise ConfigError(
            "A W&B view needs the wandb-workspaces package: pip install 'icpo[dashboard]'. "
            "`python -m icpo.dashboard RUN_NAME` needs neither it nor a server."
        ) from error
