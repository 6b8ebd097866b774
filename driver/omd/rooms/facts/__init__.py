"""Facts: how accepted facts are stored, read as of one moment, exported (schema omd_facts)."""
