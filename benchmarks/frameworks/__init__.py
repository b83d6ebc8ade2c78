"""One small job, pages to panels to crops in Parquet, in several frameworks and in Storyloom; see `run`."""
