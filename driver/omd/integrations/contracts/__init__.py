"""Models as contracts of other tools, and contracts of other tools as models."""
