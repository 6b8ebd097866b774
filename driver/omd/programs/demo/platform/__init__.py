"""A night by two workers: what is declared once flows by itself.

``model.yaml`` says what may be delivered, and where it arrives; ``flow.sql``, ``rules.yaml`` and
``stage.yaml`` say what becomes of it. ``supplier.py`` is the tenant, who only writes files.
``night.py`` declares it and has the workers; ``story.py`` looks on, and kills them. ``proof.sql``,
``lake.sql`` and ``proof.py`` compare all tables with the files that were accepted.
"""
