"""When tables rebuild by themselves: every night, and when the library changes. Both are off until switched on."""

import dagster as dg

from assets.tables import StoryloomResource
from pipelines.comics.library import source_stat
from pipelines.errors import StoryloomError
from pipelines.identity import fingerprint
from resources.project import Project

rebuild = dg.define_asset_job(
    "rebuild",
    selection=dg.AssetSelection.all(),
    description="Brings all tables up to date; what has not changed is not computed again.",
)

nightly = dg.ScheduleDefinition(
    name="nightly",
    job=rebuild,
    cron_schedule="0 3 * * *",
    description="Rebuilds at three in the morning.",
    default_status=dg.DefaultScheduleStatus.STOPPED,
)


def library_state(project: Project) -> str:
    """A token that changes when a book or an annotation is added, changed or removed; only names, sizes and times are read."""
    books, failures = project.books()
    stats = {book.book_id: [source_stat(book), vars(book.catalog)] for book in books}
    files = [path for folder in project.annotations for path in sorted(folder.rglob("*")) if path.is_file()]
    marks = [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in files]
    return fingerprint([stats, marks, sorted(f.item_id for f in failures)])


@dg.sensor(
    job=rebuild,
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Rebuilds when a book or an annotation is added to, changed in or removed from the library.",
)
def library_changes(context: dg.SensorEvaluationContext, storyloom: StoryloomResource) -> dg.SensorResult:
    """Ask for one rebuild for each new state of the library that has stood still since the last look.

    Waiting for that keeps a book that is still being copied from being read half. The cursor holds two states: the one
    seen last and the one built last.
    """
    seen, _, built = (context.cursor or " ").partition(" ")
    try:
        state = library_state(storyloom.open())
    except StoryloomError as error:
        return dg.SensorResult(skip_reason=str(error))
    if state != seen:
        return dg.SensorResult(
            skip_reason="The library has just changed; waiting for it to stand still.", cursor=f"{state} {built}"
        )
    if state == built:
        return dg.SensorResult(skip_reason="The library has not changed.")
    # No run key: Dagster runs each key once for ever, and a library may come back to an earlier state.
    return dg.SensorResult(run_requests=[dg.RunRequest()], cursor=f"{state} {state}")
