"""Lineage: which table feeds which, and which block of a source is next (schema omd_lineage)."""
