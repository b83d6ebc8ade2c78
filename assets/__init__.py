"""The DAG: which tables exist, what they depend on, when they rebuild. Dagster lives here and nowhere else."""
