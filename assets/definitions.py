"""All that Dagster loads: the tables' assets, their checks, the rebuild job and what starts it."""

from typing import Any

import dagster as dg

from assets.automation import library_changes, nightly, rebuild
from assets.checks import CHECKS
from assets.comics import COMICS
from assets.pick_a_panel import PICK_A_PANEL
from assets.tables import StoryloomResource, table_assets


def build_definitions(**resources: Any) -> dg.Definitions:
    """The project's definitions, with any resource replaced by name (tests give a lake and a library of their own).

    Steps run in this process: a step is a table, and the engine does the parallel work of each.
    """
    return dg.Definitions(
        assets=table_assets([*COMICS, *PICK_A_PANEL]),
        asset_checks=CHECKS,
        jobs=[rebuild],
        schedules=[nightly],
        sensors=[library_changes],
        resources={"storyloom": StoryloomResource()} | resources,
        executor=dg.in_process_executor,
    )


defs = build_definitions()
