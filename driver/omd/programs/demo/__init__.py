"""The demos, which ``omd demo`` plays.

Some are real loads by Spark under the control of PostgreSQL, a package each (extra ``demo``). The
SQL files hold what a DBA sets up; ``story.py`` runs the jobs and lets things go wrong;
``proof.sql`` and ``proof.py`` show that no row was lost or doubled. What these stories do is in
``stage.py``. The others are tutorials: ``pages.py`` reads them, and ``player.py`` runs them.
"""
