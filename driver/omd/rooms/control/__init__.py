"""Process control: what runs, what may run, and what must be undone first (schema omd)."""
