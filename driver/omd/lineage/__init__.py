"""Lineage: what feeds what, and which block of the source is next (schema omd_lineage)."""
