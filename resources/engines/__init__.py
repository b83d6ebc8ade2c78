"""Engines run one stage over many shards: on this machine, or elsewhere."""
