"""What the passengers of late flights get: decided by a table that can be drawn, and by a function.

Read it in this order: ``schema.sql`` is what a DBA sets up; ``care.json`` is the decision table, a
file of a decision-table editor; ``rulesets.yaml`` and the stages say what is decided over which
records; ``story.py`` runs them; ``proof.sql`` and ``proof.py`` show that each flight was decided
once, and as the rules say.
"""
