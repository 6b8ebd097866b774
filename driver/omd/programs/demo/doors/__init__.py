"""A Batch fails, is mended and succeeds, and a receiver of its events goes down and comes back.

``schema.sql`` holds what a DBA sets up. ``receiver.py`` is the receiver, ``story.py`` runs the
Batch, and ``proof.sql`` and ``proof.py`` compare what has arrived with the runs that there were.
"""
