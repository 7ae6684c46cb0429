"""Stored files of a run: journal, results, scores, metrics, status, lock."""

from icpo.store.cell_records import CellRecords
from icpo.store.extents import Extent, extents_of
from icpo.store.journal import Journal
from icpo.store.journal_file import JOURNAL_NAME
from icpo.store.manifest import MANIFEST_NAME, check_cell, job_settings, read_manifest
from icpo.store.readers import (
    METRICS_NAME,
    RESULTS_NAME,
    SCORES_NAME,
    Texts,
    load_results,
    load_scores,
    read_finished,
    read_metrics,
    run_cells,
)
from icpo.store.run_files import BEGAN, note_planned, planned_cells, written_in_turn
from icpo.store.status import read_status, settle
