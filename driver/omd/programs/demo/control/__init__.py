"""A year of real flights, loaded month by month.

Read it in this order: ``register.sql`` and ``schema.sql`` hold what a DBA sets up; ``jobs.py``
holds the Spark jobs; ``story.py`` runs them and lets things go wrong; ``proof.sql`` and
``proof.py`` show that no row was lost or doubled.
"""
