"""How to reach the world: the lake, the library, models and engines. Adapters, nothing else."""
