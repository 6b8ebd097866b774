"""The demos: real loads by Spark under the control of PostgreSQL, a package per room.

``omd demo`` plays them (extra ``demo``). The SQL files hold what a DBA sets up; ``story.py`` runs
the jobs and lets things go wrong; ``proof.sql`` and ``proof.py`` show that no row was lost or
doubled. What all stories do is in ``stage.py``.
"""
