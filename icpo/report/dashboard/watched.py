"""Pages of questions that were watched while they were solved."""

from pathlib import Path
from urllib.parse import urlencode

from icpo.report.dashboard.folder import write_dashboard
from icpo.report.report import Report
from icpo.store import load_results

MAX_QUESTIONS = 500


def write_watched(outputs: Path, report: Report) -> list[str]:
    """Write the pages of a reported run with watched questions.

    Returns the address of each; none if none was. A cell was watched when its stored settings say
    `job.watch`.
    """
    watched = [cell for cell in report.cells if cell.job.get("watch")]
    if not watched:
        return []
    index = write_dashboard(outputs, [report.run_name], max_questions=MAX_QUESTIONS).resolve()
    page = index.with_name("question.html").as_uri()
    return [
        f"{page}#{urlencode({'cell': f'{report.run_name}/{cell.folder.name}', 'question': question_id})}"
        for cell in watched
        for question_id in dict.fromkeys(r.question.question_id for r in load_results(cell.folder))
    ]
