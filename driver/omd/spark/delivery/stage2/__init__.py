"""Stage 2: checks with existing rows (docs/explanation/delivery.md, rule Q9).

Each delivered entity is joined once with its current rows; that narrow frame is kept, and has one
row per key. What the rounds find is another, small frame of keys and constraints. A Delta, or a
Full within a context, is joined with those current rows only that it can touch; what else must be
known of the others is looked up.

    judgement.py  the stage as a whole, and its measures
    side.py       one entity: its frames, and what the violations leave of it
    sides.py      all entities of a run
    contexts.py   an entity is joined with its current rows, and each row is in its context or not
    rounds.py     constraints of delivered rows, until nothing changes
    existing.py   existing rows that the delivery breaks
    joins.py      joins and conditions that the others use
"""
