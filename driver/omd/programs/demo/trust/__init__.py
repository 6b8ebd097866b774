"""A demo for the server of somebody who does not trust OMD yet: a load is killed, and repaired.

It needs neither Spark nor a superuser, and leaves the server as it was. ``place.py`` makes the
place for it and removes it, ``loader.py`` is the program that is killed, and ``story.py`` the rest.
"""
