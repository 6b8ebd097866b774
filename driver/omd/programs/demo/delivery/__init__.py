"""A year of real flights, delivered month by month, by a tenant who makes mistakes.

Read it in this order: ``model.yaml`` says what may be delivered and what makes it acceptable;
``supplier.py`` writes the files; ``story.py`` delivers them; ``proof.sql`` and ``proof.py`` compare
the Logical Validation Layer with the files that were accepted.
"""
