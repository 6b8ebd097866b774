"""Provenance: who read what of whom, and taking back what was made of it (schema omd_provenance)."""
