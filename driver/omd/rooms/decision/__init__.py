"""Decision: which records form one execution of a rule, and what it says (schema omd_decision)."""
