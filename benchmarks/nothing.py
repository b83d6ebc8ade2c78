"""Definitions of an asset that does nothing: running it shows what Dagster itself takes."""

import dagster as dg


@dg.asset
def nothing() -> None:
    """No work at all."""


defs = dg.Definitions(assets=[nothing], executor=dg.in_process_executor)
