"""Models behind the roles that `pipelines` declares, one adapter a file, imported when a profile chooses it."""
