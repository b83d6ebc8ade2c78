"""Human annotations in the formats that people have: read, checked and brought to one form."""
