"""Provenance: who read what of whom, and what goes with a bad load (schema omd_provenance)."""
