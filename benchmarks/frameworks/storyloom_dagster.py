"""The job as an asset, built by the function that builds all of Storyloom's assets: digests, footers, checks, metadata.

dagster asset materialize -m benchmarks.frameworks.storyloom_dagster --select panel_crops
"""

import dagster as dg

from assets.comics import find_pages
from assets.tables import StoryloomResource, TableSpec, table_assets
from benchmarks.frameworks.cut_panels import TABLE, CutPanels

PANEL_CROPS = TableSpec(
    TABLE,
    "Each panel's crop as a JPEG.",
    "benchmark",
    {"parquet", "opencv"},
    lambda project: CutPanels(),
    find=find_pages,
)

defs = dg.Definitions(
    assets=table_assets([PANEL_CROPS]),
    resources={"storyloom": StoryloomResource()},
    executor=dg.in_process_executor,
)
