"""Events: what was committed, in one order, for programs outside (schema omd_event)."""
