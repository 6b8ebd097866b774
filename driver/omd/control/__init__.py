"""Process control: who runs, may it run, what to undo (schema omd)."""
