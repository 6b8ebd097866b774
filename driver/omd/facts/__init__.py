"""Facts: how accepted facts are stored, read as of one moment, handed out (schema omd_facts)."""
