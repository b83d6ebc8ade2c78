"""What each stage computes: plain functions over images and Arrow tables.

Nothing here knows Dagster, a model library, a lake or a network: `resources` reaches the world, `assets` orders the work.
"""
