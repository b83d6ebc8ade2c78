"""Sample comics that are drawn from a seed, with their whole ground truth."""
