"""A wrong delivery in the middle is taken back with all that was made of it.

It is the flow of `omd.programs.demo.platform`, with totals (``totals.sql``). ``story.py`` plays
five days, of which the third is wrong, and recalls it. ``proof.py`` compares all tables with the
files that were right, as if the wrong one had never been.
"""
