"""Decision on Spark: the same cycles, rejects and codes as in the database, for any volume.

The rules are in docs/explanation/decision.md, above all C10.
"""
