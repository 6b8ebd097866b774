"""Lake: which files of an Iceberg or Delta table a run wrote (schema omd_lake)."""
