"""A year of real flights, loaded month by month.

Read it in this order: ``register.sql`` and ``schema.sql`` are what a DBA sets up, ``jobs.py`` are
the Spark jobs, ``story.py`` runs them and lets things go wrong, ``proof.sql`` and ``proof.py`` show
that nothing was lost or doubled.
"""
