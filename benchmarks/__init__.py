"""Scripts that measure Storyloom: each is run from the project's folder as `python -m benchmarks.<name>`."""
