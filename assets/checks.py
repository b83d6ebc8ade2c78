"""Asset checks over finished tables."""

CHECKS: list = []
