"""The demos: real loads by Spark under the control of PostgreSQL, a package per room.

``omd demo`` plays them (extra ``demo``). What a DBA sets up is in SQL files; ``story.py`` runs the
jobs and lets things go wrong, ``proof.sql`` and ``proof.py`` show that nothing was lost or doubled.
"""
