"""Decision on Spark: the same cycles, rejects and codes as in the database, for any volume.

The rules are in docs/explanation/decision.md, above all C10. `run` is a run from its beginning to
its end: `links` reads the records, `operator` decides what becomes of those of a partition, and the
database writes it. The operator needs no Spark:

    stream       sorted records, cut into pieces of one link and one sort key
    groups       the pieces of one key, or of one batch, together
    by_batch     C4: a batch is an attempt
    by_key       C5 with a batch size of 0 or 1: a key is an attempt, or each primary record is
    across_keys  C5 with a batch size of 2 or more: a batch has records of several keys
    wave         what is known of a wave of this partition, and counted in it
    outcomes     what these three answer: calls and rejects
    invocations  the calls, made many at a time
    results      what a partition answers, as batches of Arrow
"""
